// Starts the real server, and connects to it as any caller would.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

import * as grpc from '@grpc/grpc-js';
import * as loader from '@grpc/proto-loader';
import healthCheck from 'grpc-health-check';
import * as errorDetails from 'nice-grpc-error-details';
import { Status } from 'nice-grpc-error-details/lib/proto/google/rpc/status.js';

const root = path.resolve(import.meta.dirname, '../../..');
const format = { keepCase: true, enums: String, defaults: true };
const contract = load('sudoku/v1/sudoku.proto', { ...format, includeDirs: [path.join(root, 'proto')] });
const healthContract = load(healthCheck.protoPath, format);

/** The methods of the contract: their paths, and how their messages are written and read. */
export const methods = contract.sudoku.v1.SudokuService.service;

/** Bounds every call: far more than any needs. */
export const timeout = () => ({ deadline: Date.now() + 120_000 });

function load(proto, options) {
  return grpc.loadPackageDefinition(loader.loadSync(proto, options));
}

/** Starts the server as a process of its own, on a port that the system picks. */
export async function start(...args) {
  const program = path.join(process.env.CARGO_TARGET_DIR ?? path.join(root, 'target'), 'debug/sudoku-server');
  const server = spawn(program, ['--listen', '127.0.0.1:0', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(server, 'exit');
  /** Asks the server to drain, and returns its exit status: none if it had to be killed. */
  const stop = async () => {
    server.kill('SIGTERM');
    const force = setTimeout(() => server.kill('SIGKILL'), 60_000);
    const [status] = await exit;
    clearTimeout(force);
    return status;
  };
  // Also ends where the server ends before it listens.
  for await (const address of createInterface({ input: server.stdout })) return { address, stop };
  assert.fail('the server ended before it listened');
}

/** A client with a connection of its own and no retries. */
export function connect({ address }) {
  const options = { 'grpc.enable_retries': 0, 'grpc.use_local_subchannel_pool': 1 };
  return new contract.sudoku.v1.SudokuService(address, grpc.credentials.createInsecure(), options);
}

/** Runs `use` with a client whose connection must last until `use` is through. */
export async function connected(server, use) {
  const client = connect(server);
  try {
    await ready(client);
    let lost = false;
    client.getChannel().watchConnectivityState(grpc.connectivityState.READY, Infinity, () => (lost = true));
    await use(client);
    assert.ok(!lost, 'the connection was lost');
  } finally {
    client.close();
  }
}

function ready(client) {
  return new Promise((resolve, reject) => {
    client.waitForReady(timeout().deadline, (error) => (error ? reject(error) : resolve()));
  });
}

/** A client of the standard health service, on the connection of `client`. */
export function health(client) {
  const channelOverride = client.getChannel();
  return new healthContract.grpc.health.v1.Health('unused', grpc.credentials.createInsecure(), { channelOverride });
}

/** Makes a unary call; the promise fails with the call's error. */
export function unary(client, method, request, metadata = new grpc.Metadata(), options = timeout()) {
  return new Promise((resolve, reject) => {
    client[method](request, metadata, options, (error, response) => (error ? reject(error) : resolve(response)));
  });
}

/** The error of a call that must fail. */
export function failure(call) {
  return call.then(() => assert.fail('the call succeeded'), (error) => error);
}

/** The name of the error's code, and its details by the name of their type. */
export function details(error) {
  const [packed] = error.metadata?.get('grpc-status-details-bin') ?? [];
  assert.ok(packed, `without details: ${error}`);
  const found = { code: grpc.status[error.code] };
  for (const { typeUrl, value } of Status.decode(packed).details) {
    const name = typeUrl.split('.').pop();
    found[name] = errorDetails[name].decode(value);
  }
  return found;
}
