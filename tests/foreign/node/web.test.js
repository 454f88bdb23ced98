// The client that gRPC has for browsers, on Node with the browsers' way to make requests.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import grpcWeb from 'grpc-web';
import xhr2 from 'xhr2';

import { message, puzzles, solutions } from './cases.js';
import { methods, start } from './service.js';

globalThis.XMLHttpRequest = xhr2;

let server;
before(async () => {
  server = await start('--web-origin', 'https://sudoku.example');
});
after(async () => assert.equal(await server.stop(), 0));

const { UNARY, SERVER_STREAMING } = grpcWeb.MethodType;

/** A method as the code that protoc generates for browsers describes it. */
function descriptor(name, type) {
  const { path, requestSerialize, responseDeserialize } = methods[name];
  const serialize = (request) => new Uint8Array(requestSerialize(request));
  const deserialize = (bytes) => responseDeserialize(Buffer.from(bytes));
  return new grpcWeb.MethodDescriptor(path, type, Object, Object, serialize, deserialize);
}

for (const format of ['text', 'binary']) {
  const client = new grpcWeb.GrpcWebClientBase({ format });
  const url = (name) => `http://${server.address}${methods[name].path}`;
  const unary = (name, request) =>
    new Promise((resolve, reject) => {
      const answered = (error, response) => (error ? reject(error) : resolve(response));
      client.rpcCall(url(name), request, {}, descriptor(name, UNARY), answered);
    });

  test(`a puzzle is solved, as ${format}`, async () => {
    const { result } = await unary('Solve', message({ puzzle: 'easy' }));
    assert.equal(result.outcome, 'OUTCOME_UNIQUE');
    assert.deepEqual(result.solutions, [solutions.easy]);
  });

  test(`a refusal has its code and its text, as ${format}`, async () => {
    await assert.rejects(unary('Solve', { puzzle: puzzles.easy.slice(1) }), (error) => {
      assert.equal(error.code, grpcWeb.StatusCode.INVALID_ARGUMENT);
      assert.match(error.message, /80/);
      return true;
    });
  });
}

test('a message of a stream is answered', async () => {
  const client = new grpcWeb.GrpcWebClientBase({ format: 'text' });
  const { path } = methods.SolveMany;
  const request = message({ puzzles: ['easy', 'hard'] });
  const descriptorOfStream = descriptor('SolveMany', SERVER_STREAMING);
  const stream = client.serverStreaming(`http://${server.address}${path}`, request, {}, descriptorOfStream);
  const received = [];
  const status = await new Promise((resolve, reject) => {
    stream.on('data', (response) => received.push(response));
    stream.on('status', resolve);
    stream.on('error', reject);
  });
  assert.equal(status.code, grpcWeb.StatusCode.OK);
  assert.deepEqual(received.map(({ results }) => results.map(({ solutions }) => solutions)), [
    [[solutions.easy], [solutions.hard]],
  ]);
});
