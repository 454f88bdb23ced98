// The manifests are what Kubernetes takes: held against its schemas as types, which know no other fields, and as
// validators, which know formats too.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { parse } from "yaml";

const FOLDER = new URL("../../deploy/kubernetes/", import.meta.url);
const MANIFESTS = readdirSync(FOLDER).filter((name) => name.endsWith(".yaml"));

// A file that only the compiler sees, in this folder so that it finds the schemas.
const CHECKED = fileURLToPath(new URL("manifest.ts", import.meta.url));
const OPTIONS = {
  noEmit: true,
  strict: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: [],
};

const read = (name) => parse(readFileSync(new URL(name, FOLDER), "utf8"));

// The package has the core kinds in v1, and the others in their group and version.
const moduleOf = (manifest) => `kubernetes-models/${manifest.apiVersion}`;

// The schemas are read once.
const files = new Map();

function schema(file, read) {
  if (!files.has(file)) files.set(file, read());
  return files.get(file);
}

/** What the compiler says of the manifest as a value of its kind's type. */
function typeErrors(manifest) {
  const source =
    `import type { I${manifest.kind} } from ${JSON.stringify(moduleOf(manifest))};\n` +
    `export const manifest: I${manifest.kind} = ${JSON.stringify(manifest, null, 2)};\n`;
  const host = ts.createCompilerHost(OPTIONS);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (file) => file === CHECKED || fileExists(file);
  host.readFile = (file) => (file === CHECKED ? source : readFile(file));
  host.getSourceFile = (file, language, ...rest) =>
    file === CHECKED
      ? ts.createSourceFile(file, source, language)
      : schema(file, () => getSourceFile(file, language, ...rest));
  const program = ts.createProgram([CHECKED], OPTIONS, host);
  return ts.getPreEmitDiagnostics(program).map((found) => ts.flattenDiagnosticMessageText(found.messageText, "\n"));
}

async function check(manifest) {
  const kinds = await import(moduleOf(manifest));
  new kinds[manifest.kind](manifest).validate();
  assert.deepEqual(typeErrors(manifest), []);
}

for (const name of MANIFESTS) {
  test(`${name} is what Kubernetes takes`, () => check(read(name)));
}

const container = (manifest) => manifest.spec.template.spec.containers[0];
const MISTAKES = {
  "a misspelt field of the pod": (manifest) => {
    manifest.spec.template.spec.terminationGracePeriodSecond = 45;
  },
  "a misspelt field of the container": (manifest) => {
    container(manifest).securityContext.readOnlyRootFileSystem = true;
  },
  "a field in the wrong place": (manifest) => {
    container(manifest).fsGroup = 65532;
  },
  "a number for a text": (manifest) => {
    container(manifest).args = [1];
  },
  "no selector": (manifest) => {
    delete manifest.spec.selector;
  },
  "memory of no size": (manifest) => {
    container(manifest).resources.limits.memory = "1 GB";
  },
};

for (const [what, spoil] of Object.entries(MISTAKES)) {
  test(`${what} is refused`, async () => {
    const manifest = read("deployment.yaml");
    spoil(manifest);
    await assert.rejects(check(manifest));
  });
}

test("a misspelt field is refused by its name", () => {
  const manifest = read("network-policy.yaml");
  manifest.spec.ingres = manifest.spec.ingress;
  assert.match(typeErrors(manifest).join(), /"ingres"' does not exist/);
});
