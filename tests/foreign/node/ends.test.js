// How calls end before their time: cancelled, out of time, refused under load, drained.

import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import * as grpc from '@grpc/grpc-js';

import { message, solutions } from './cases.js';
import { connect, connected, details, failure, start, timeout, unary } from './service.js';

const EASY = message({ puzzles: ['easy'] });
const DEAR = { solution_limit: 10_000, omit_solutions: true };

let server;
before(async () => {
  server = await start('--max-streams', '1', '--threads', '1');
});
after(async () => assert.equal(await server.stop(), 0));

test('a cancelled stream makes room', () =>
  connected(server, async (client) => {
    const dear = Array(6000).fill(message({ puzzles: ['empty'], options: DEAR }));
    const call = Readable.from(dear).pipe(client.SolveMany(timeout()));
    const answers = call[Symbol.asyncIterator]();
    await answers.next();

    const { code, ErrorInfo, RetryInfo } = details(await refusal(client));
    assert.deepEqual([code, ErrorInfo.reason], ['RESOURCE_EXHAUSTED', 'OVERLOADED']);
    const pause = RetryInfo.retryDelay.seconds * 1000 + RetryInfo.retryDelay.nanos / 1e6;
    assert.ok(pause > 0 && pause < 10_000);

    call.cancel();
    const giveUp = timeout().deadline;
    while (await refusal(client)) {
      assert.ok(Date.now() < giveUp, 'the cancelled stream still holds its place');
      await sleep(pause);
    }
  }));

// gRPC's clients end a call at their own deadline and then no longer see what the server says of it. So that it is the
// server that ends these, the deadline is sent as the protocol sends it and not kept here.

test('a deadline ends a search', { timeout: 120_000 }, () =>
  connected(server, async (client) => {
    const request = message({ puzzle: 'empty', options: DEAR });
    const { code, ErrorInfo } = details(await failure(unary(client, 'Solve', request, within('100u'), {})));
    assert.deepEqual([code, ErrorInfo.reason], ['DEADLINE_EXCEEDED', 'DEADLINE']);
  }));

test('a deadline ends an idle stream', { timeout: 120_000 }, () =>
  connected(server, async (client) => {
    const answers = await openStream(client.SolveMany(within('1S'), {}));
    const { code, ErrorInfo } = details(await failure(answers.next()));
    assert.deepEqual([code, ErrorInfo.reason], ['DEADLINE_EXCEEDED', 'DEADLINE']);
  }));

test('a deadline of the client leaves the connection whole', () =>
  connected(server, async (client) => {
    const answers = await openStream(client.SolveMany({ deadline: Date.now() + 1000 }));
    assert.equal((await failure(answers.next())).code, grpc.status.DEADLINE_EXCEEDED);
    const { result } = await unary(client, 'Solve', message({ puzzle: 'easy' }));
    assert.deepEqual(result.solutions, [solutions.easy]);
  }));

test('a draining server says so', async () => {
  const draining = await start();
  const client = connect(draining);
  const answers = await openStream(client.SolveMany(timeout()));
  const stopped = draining.stop();
  const { code, ErrorInfo } = details(await failure(answers.next()));
  assert.deepEqual([code, ErrorInfo.reason], ['UNAVAILABLE', 'DRAINING']);
  assert.equal(await stopped, 0);
  client.close();
});

/** The answers of a stream that has had one, and whose caller then neither writes nor closes. */
async function openStream(call) {
  call.write(EASY);
  const answers = call[Symbol.asyncIterator]();
  const { value } = await answers.next();
  assert.deepEqual(value.results[0].solutions, [solutions.easy]);
  return answers;
}

/** The error where a stream with one puzzle is refused, or nothing where it is answered. */
async function refusal(client) {
  const call = client.SolveMany(timeout());
  call.end(EASY);
  try {
    const [answer] = await call.toArray();
    assert.deepEqual(answer.results[0].solutions, [solutions.easy]);
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return error;
  }
}

/** The metadata that carries a call's deadline. */
function within(time) {
  const metadata = new grpc.Metadata();
  metadata.set('grpc-timeout', time);
  return metadata;
}
