// Small messages to a server that is slower than its callers: it must slow them down, and not hang up.

import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';

import { message, solutions } from './cases.js';
import { connected, start, timeout } from './service.js';

const STREAMS = 32;
const UNIQUE = ['easy', 'hard'];

let server;
before(async () => {
  server = await start('--threads', '1');
});
after(async () => assert.equal(await server.stop(), 0));

test('one puzzle a message', () =>
  connected(server, async (client) => {
    const waiting = await drive(client, 0, 6000);
    assert.ok(waiting > 100, 'the server kept up, so this showed nothing');
  }));

test('many streams on one connection', () =>
  connected(server, async (client) => {
    const streams = [...Array(STREAMS).keys()].map((stream) => drive(client, 1000 * stream, 200));
    const waiting = (await Promise.all(streams)).reduce((sum, most) => sum + most);
    assert.ok(waiting > 100 * STREAMS, 'the server kept up, so this showed nothing');
  }));

/** Sends that many messages on one stream and checks the answers; returns the most that were unanswered at once. */
async function drive(client, first, messages) {
  let [sent, received, most] = [0, 0, 0];
  const requests = function* () {
    for (; sent < messages; sent++) yield slowRequest(first + sent);
  };
  for await (const response of Readable.from(requests()).pipe(client.SolveMany(timeout()))) {
    most = Math.max(most, sent - received);
    check(first + received, response);
    received += 1;
  }
  assert.equal(received, messages);
  return most;
}

/** One puzzle, most of them dear: the number of solutions to count tells which request an answer is for. */
function slowRequest(k) {
  if (k % 4 === 0) return message({ puzzles: [UNIQUE[(k / 4) % 2]] });
  return message({ puzzles: ['empty'], options: { solution_limit: 1000 + (k % 1000), omit_solutions: true } });
}

function check(k, { results }) {
  assert.equal(results.length, 1);
  const [{ outcome, solutions: found, solution_count: count }] = results;
  if (k % 4 === 0) assert.deepEqual(found, [solutions[UNIQUE[(k / 4) % 2]]]);
  else assert.deepEqual([outcome, count], ['OUTCOME_MULTIPLE', 1000 + (k % 1000)]);
}
