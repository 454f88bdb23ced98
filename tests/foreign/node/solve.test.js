// Answers, checked by the rules of the game, and every refusal with its details decoded.

import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, before, describe, test } from 'node:test';

import { errors, message, puzzles, solutions, solve } from './cases.js';
import { solves } from './grids.js';
import { connected, details, failure, health, start, timeout, unary } from './service.js';

let server;
before(async () => {
  server = await start();
});
after(async () => assert.equal(await server.stop(), 0));

describe('an answer', () => {
  for (const { name, request, outcome, count, solution, conflicts = [] } of solve) {
    test(name, () =>
      connected(server, async (client) => {
        const { result } = await unary(client, 'Solve', message(request));
        assert.equal(result.outcome, outcome);
        assert.equal(result.solution_count, count ?? result.solution_count);
        assert.equal(new Set(result.solutions).size, request.options?.omit_solutions ? 0 : result.solution_count);
        assert.ok(result.solutions.every((found) => solves(found, puzzles[request.puzzle])));
        if (solution) assert.deepEqual(result.solutions, [solutions[solution]]);
        assert.deepEqual(result.conflicts, conflicts);
      }));
  }

  test('a bad puzzle is a result in its place', () =>
    connected(server, async (client) => {
      const names = [['easy', 'easy with a letter', 'hard'], [], ['easy cut short', 'easy']];
      const requests = names.map((puzzles) => message({ puzzles }));
      const responses = await Readable.from(requests).pipe(client.SolveMany(timeout())).toArray();

      const [first, empty, last] = responses.map(({ results }) => results);
      assert.deepEqual(first.map(({ solutions }) => solutions), [[solutions.easy], [], [solutions.hard]]);
      assert.equal(first[1].outcome, 'OUTCOME_INVALID');
      assert.deepEqual([first[1].invalid.length, first[1].invalid.position], [81, 4]);
      assert.deepEqual(empty, []);
      assert.deepEqual([last[0].invalid.length, last[0].invalid.position], [80, undefined]);
      assert.deepEqual(last[1].solutions, [solutions.easy]);
    }));

  test('the standard health service says that the server serves', () =>
    connected(server, async (client) => {
      for (const service of ['', 'sudoku.v1.SudokuService']) {
        const { status } = await unary(health(client), 'Check', { service });
        assert.equal(status, 'SERVING');
      }
    }));
});

describe('a refusal', () => {
  for (const { name, method, requests, code, reason, metadata, fields = [], answers = 0 } of errors) {
    test(name, () =>
      connected(server, async (client) => {
        const received = [];
        const error = await failure(call(client, method, requests.map(message), received));
        const { ErrorInfo, BadRequest, ...found } = details(error);
        assert.equal(found.code, code);
        assert.deepEqual([ErrorInfo.domain, ErrorInfo.reason], ['sudoku.v1', reason]);
        assert.deepEqual(ErrorInfo.metadata, metadata);
        assert.deepEqual((BadRequest?.fieldViolations ?? []).map(({ field }) => field), fields);
        assert.equal(received.length, answers);
      }));
  }
});

async function call(client, method, requests, received) {
  if (method === 'Solve') return unary(client, method, requests[0]);
  for await (const answer of Readable.from(requests).pipe(client.SolveMany(timeout()))) received.push(answer);
}
