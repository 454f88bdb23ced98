// What the clients of all languages ask, and what they must hear.

import { readFileSync } from 'node:fs';

const cases = JSON.parse(readFileSync(new URL('../cases.json', import.meta.url)));

export const { puzzles, solutions, solve, errors } = cases;

/** The message of a case; `times` repeats the puzzle, or the list of puzzles, in it. */
export function message({ times = 1, ...fields }) {
  if (fields.puzzle) return { ...fields, puzzle: puzzles[fields.puzzle].repeat(times) };
  return { ...fields, puzzles: Array(times).fill(fields.puzzles).flat().map((name) => puzzles[name]) };
}
