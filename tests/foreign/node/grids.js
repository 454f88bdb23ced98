// Checks answers by the rules of the game alone.

const cells = [...Array(81).keys()];
const lines = [(c) => Math.floor(c / 9), (c) => c % 9, (c) => Math.floor(c / 27) * 3 + Math.floor((c % 9) / 3)];
const units = lines.flatMap((index) => [...Array(9).keys()].map((i) => cells.filter((c) => index(c) === i)));

/** Whether `solution` completes every row, column and box, and keeps every clue of `puzzle`. */
export function solves(solution, puzzle) {
  const digits = /^[1-9]{81}$/.test(solution);
  const complete = digits && units.every((unit) => new Set(unit.map((c) => solution[c])).size === 9);
  return complete && cells.every((c) => '.0'.includes(puzzle[c]) || puzzle[c] === solution[c]);
}
