// A client of the Sudoku service for Node: one puzzle, or a file of them.
//
//   node client.js solve 53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79
//   node client.js batch < puzzles.txt

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

import * as grpc from '@grpc/grpc-js';
import * as loader from '@grpc/proto-loader';
import * as errorDetails from 'nice-grpc-error-details';
import { Status } from 'nice-grpc-error-details/lib/proto/google/rpc/status.js';

// A message with many puzzles costs far less a puzzle than many messages, and a server takes 2,048 by default.
const PUZZLES_A_MESSAGE = 256;

// How many messages may be without an answer: what is read ahead of the slowest part, be it the server or the output.
const MESSAGES_AHEAD = 16;

const USAGE = `usage: node client.js [OPTIONS] solve PUZZLE
       node client.js [OPTIONS] batch < FILE

  --endpoint HOST:PORT   the server, or unix:PATH (127.0.0.1:50051)
  --deadline SECONDS     how long the call may take (60)
  --limit N              after how many solutions to stop (2)
  --ca FILE              the authority to trust, in PEM; the call is then encrypted
  --server-name NAME     the name in the server's certificate, if the endpoint's host is another or an IP address
  --cert FILE --key FILE the client's own certificate and its key, in PEM
  --token-file FILE      a file with the token; else SUDOKU_TOKEN
  --help                 this text`;

/** Solves one puzzle. One that is none is an error of the call. */
async function solve(sudoku, call, puzzle) {
  const request = { puzzle, options: call.options };
  const { result } = await new Promise((resolve, reject) => {
    sudoku.Solve(request, call.metadata, { deadline: call.deadline }, (error, response) =>
      error ? reject(error) : resolve(response));
  });
  console.log(line(result));
}

/**
 * Solves the lines of standard input, and writes a line for each, in order. A line that is no puzzle is a result like the
 * others, so the lines of the output are those of the input.
 */
async function batch(sudoku, call) {
  const stream = sudoku.SolveMany(call.metadata, { deadline: call.deadline });
  let answered = 0;
  let wake = () => {};
  const receiving = (async () => {
    for await (const { results } of stream) {
      answered += 1;
      wake();
      const text = results.map((result) => `${line(result)}\n`).join('');
      // Reading goes on when the output has taken this, so a slow output holds back the server, and that the input.
      if (!process.stdout.write(text)) await once(process.stdout, 'drain');
    }
  })();
  const ended = receiving.catch(() => {}).finally(() => wake());

  // A call that is over needs no more lines, and must not wait for any.
  const lines = createInterface({ input: process.stdin });
  let isOver = false;
  ended.then(() => {
    isOver = true;
    lines.close();
  });
  let sent = 0;
  for await (const puzzles of messages(lines)) {
    while (sent - answered >= MESSAGES_AHEAD && !isOver) await new Promise((resolve) => (wake = resolve));
    if (isOver) break;
    stream.write({ puzzles, options: call.options });
    sent += 1;
  }
  stream.end();
  await receiving;
}

/** The lines, so many at a time. */
async function* messages(lines) {
  let puzzles = [];
  for await (const puzzle of lines) {
    puzzles.push(puzzle.trim());
    if (puzzles.length < PUZZLES_A_MESSAGE) continue;
    yield puzzles;
    puzzles = [];
  }
  if (puzzles.length > 0) yield puzzles;
}

/** A result in one line: what was found out, and the solutions or what is wrong. */
function line({ outcome, solutions, invalid }) {
  const name = outcome.replace('OUTCOME_', '').toLowerCase();
  return outcome === 'OUTCOME_INVALID' ? `${name}: ${invalid.message}` : [name, ...solutions].join(' ');
}

/** An error as the contract has it: the code, and the reason with its details. */
function explain(error) {
  const text = [`${grpc.status[error.code]}: ${error.details}`];
  for (const packed of error.metadata?.get('grpc-status-details-bin') ?? []) {
    for (const { typeUrl, value } of Status.decode(packed).details) {
      const name = typeUrl.split('.').pop();
      if (errorDetails[name]) text.push(`${name}: ${JSON.stringify(errorDetails[name].decode(value))}`);
    }
  }
  return text.join('\n');
}

/** The client: encrypted if an authority is given, and with a certificate of its own if it has one. */
function connect(options) {
  const proto = loader.loadSync('sudoku/v1/sudoku.proto', {
    keepCase: true,
    enums: String,
    defaults: true,
    includeDirs: [path.resolve(import.meta.dirname, '../../proto')],
  });
  const { SudokuService } = grpc.loadPackageDefinition(proto).sudoku.v1;
  const read = (file) => (file ? readFileSync(file) : null);
  const credentials = options.ca
    ? grpc.credentials.createSsl(read(options.ca), read(options.key), read(options.cert))
    : grpc.credentials.createInsecure();
  const name = options['server-name'];
  return new SudokuService(options.endpoint, credentials, name ? { 'grpc.ssl_target_name_override': name } : {});
}

/** What all calls have in common. The token comes from a file or the environment, since arguments are for all to see. */
function settings(options) {
  const file = options['token-file'];
  const token = file ? readFileSync(file, 'utf8').trim() : process.env.SUDOKU_TOKEN;
  const metadata = new grpc.Metadata();
  if (token) metadata.set('authorization', `Bearer ${token}`);
  const deadline = Date.now() + 1_000 * Number(options.deadline);
  return { metadata, deadline, options: { solution_limit: Number(options.limit) } };
}

/** What was typed. Wrong usage ends the program. */
function typed() {
  const text = (value) => ({ type: 'string', default: value });
  const options = {
    endpoint: text('127.0.0.1:50051'),
    deadline: text('60'),
    limit: text('2'),
    ca: text(),
    'server-name': text(),
    cert: text(),
    key: text(),
    'token-file': text(),
    help: { type: 'boolean', short: 'h' },
  };
  try {
    return parseArgs({ allowPositionals: true, options });
  } catch (error) {
    console.error(`${error.message}\n${USAGE}`);
    process.exit(2);
  }
}

const { values, positionals } = typed();
const [command, puzzle] = positionals;
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
if (!(command === 'batch' || (command === 'solve' && puzzle))) {
  console.error(USAGE);
  process.exit(2);
}
const sudoku = connect(values);
try {
  await (command === 'solve' ? solve(sudoku, settings(values), puzzle) : batch(sudoku, settings(values)));
} catch (error) {
  console.error(explain(error));
  process.exitCode = 1;
} finally {
  sudoku.close();
  process.stdin.destroy();
}
