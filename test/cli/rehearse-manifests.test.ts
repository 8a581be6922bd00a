import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { stringify } from 'yaml'
import type { StoryLine } from '../../apps/cluster/index.js'
import { command } from '../kit/commands/command.js'

let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'ironstage-manifests-'))))
afterEach(() => rm(folder, { recursive: true, force: true }))

const CONFIG_MAP = `apiVersion: v1
kind: ConfigMap
metadata:
  name: depot
data:
  a: b
`
const HOST = {
  apiVersion: 'metal3.io/v1alpha1',
  kind: 'BareMetalHost',
  metadata: { name: 'loose', labels: { rack: 'a' } },
  spec: { online: true },
}

async function played(steps: readonly object[], files: Record<string, string> = {}) {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const scenario = {
    name: 'mine',
    title: 'Manifests of my own',
    releases: { now: { version: '4.21.0', coreos: '9.6.20260112-0' } },
    cluster: { release: 'now', spares: 1 },
    steps,
  }
  await writeFile(join(folder, 'mine.yaml'), stringify(scenario))
  const run = command(['rehearse', 'upgrade', '--json', join(folder, 'mine.yaml')])
  const code = await run.ended
  const lines = run.stdout.split('\n').filter(Boolean)
  return { code, stderr: run.stderr, lines: lines.map((line) => JSON.parse(line) as StoryLine) }
}
const failuresOf = (lines: readonly StoryLine[]) => lines.flatMap((line) => (line.event === 'end' ? line.failures : []))

test('files are applied and deleted, objects are awaited as kubectl wait does, events are expected', async () => {
  const changed = { ...HOST, metadata: { name: 'loose', labels: { rack: 'b' } } }
  const { code, lines } = await played(
    [
      { apply: 'all.yaml' },
      { wait: { for: 'create', kind: 'cm', name: 'depot' } },
      { wait: { for: 'jsonpath={.status.provisioning.state}=unmanaged', kind: 'bmh', name: 'loose' }, within: '10m' },
      { expect: { event: 'Discovered', of: 'bmh/loose', because: 'no BMC details' } },
      { expect: { event: 'InspectionComplete', of: 'BareMetalHost/host-1' } },
      { wait: { for: 'condition=Available', kind: 'Deployment', name: 'metal3' } },
      { apply: 'changed.yaml' },
      { wait: { for: 'jsonpath={.metadata.labels.rack}=b', kind: 'baremetalhosts', name: 'loose' }, within: '1m' },
      { delete: 'all.yaml' },
      { wait: { for: 'delete', kind: 'BareMetalHost', name: 'loose', namespace: 'openshift-machine-api' } },
    ],
    { 'all.yaml': `${CONFIG_MAP}---\n${stringify(HOST)}`, 'changed.yaml': stringify(changed) },
  )
  expect(failuresOf(lines)).toEqual([])
  expect(code).toBe(0)
  expect(lines.flatMap((line) => (line.event === 'act' && line.actor === 'administrator' ? line.does : []))).toEqual([
    'installs 4.21.0',
    'applies all.yaml',
    'applies changed.yaml',
    'deletes the objects of all.yaml',
  ])
})

test.each<[string, object, Record<string, string>, RegExp]>([
  [
    'an object that the API refuses',
    { apply: 'a.yaml' },
    { 'a.yaml': stringify({ ...HOST, spec: { online: 'yes' } }) },
    /^a\.yaml: BareMetalHost.* "loose" is invalid/,
  ],
  [
    'a kind that there is not',
    { apply: 'a.yaml' },
    { 'a.yaml': CONFIG_MAP.replace('kind: ConfigMap', 'kind: Forklift') },
    /^a\.yaml: no matches for kind "Forklift" in version "v1"/,
  ],
  [
    'an object that is not there',
    { delete: 'a.yaml' },
    { 'a.yaml': CONFIG_MAP },
    /^a\.yaml: configmaps "depot" not found/,
  ],
  [
    'a condition that does not come',
    { wait: { for: 'condition=Ready', kind: 'bmh', name: 'host-1' }, within: '2m' },
    {},
    /^timed out waiting for condition=Ready of baremetalhost\/host-1/,
  ],
  [
    'an event that was not',
    { expect: { event: 'PowerOff', of: 'bmh/host-1', because: 'never' } },
    {},
    /^bmh\/host-1 has the event PowerOff \(never\); but it has .*Registered/,
  ],
])('%s fails the story', async (_, step, files, failure) => {
  const { code, lines } = await played([step], files)
  expect(code).toBe(1)
  expect(failuresOf(lines)[0]).toMatch(failure)
})

test.each<[string, object, Record<string, string>, RegExp]>([
  ['a file that is not there', { apply: 'a.yaml' }, {}, /mine\.yaml:11:\d+: the file a\.yaml cannot be read/],
  ['a file that is no YAML', { apply: 'a.yaml' }, { 'a.yaml': 'a: [\n' }, /a\.yaml:1:\d+: this is not YAML/],
  [
    'a file without a name',
    { delete: 'a.yaml' },
    { 'a.yaml': `${CONFIG_MAP}---\nkind: A\n` },
    /a\.yaml:\d+: an object lacks apiVersion, kind or metadata\.name/,
  ],
  ['an empty file', { apply: 'a.yaml' }, { 'a.yaml': '# nothing\n' }, /a\.yaml has no object of Kubernetes/],
  [
    'a wait for something else',
    { wait: { for: 'ready', kind: 'bmh', name: 'a' } },
    {},
    /mine\.yaml:12:\d+: ready is none of delete, create, condition=TYPE/,
  ],
  [
    'a wait without a name',
    { wait: { for: 'delete', kind: 'bmh' } },
    {},
    /mine\.yaml:1[23]:\d+: steps\.0\.wait lacks name/,
  ],
  [
    'a wait for an unknown thing',
    { wait: 'everything' },
    {},
    /mine\.yaml:11:\d+: steps\.0\.wait is one of: time, upgrade/,
  ],
  [
    'an event of nothing',
    { expect: { event: 'PowerOff', of: 'host-1' } },
    {},
    /mine\.yaml:1\d:\d+: steps\.0\.expect\.of must match pattern/,
  ],
])('%s is refused with file and line', async (_, step, files, message) => {
  const { code, stderr, lines } = await played([step], files)
  expect({ code, lines }).toEqual({ code: 2, lines: [] })
  expect(stderr).toMatch(message)
})

test.each([
  [
    { wait: { for: 'create', kind: 'Nonsense', name: 'a' } },
    'the cluster has no kind Nonsense, and no file that a step',
  ],
  [{ wait: { for: 'delete', kind: 'BareMetalHosts', name: 'a' } }, undefined],
  [
    { wait: { for: 'delete', kind: 'BareMetalHots', name: 'a' } },
    'has no kind BareMetalHots; did you mean BareMetalHost?',
  ],
  [{ expect: { condition: 'Ready', of: 'Nodde/a', is: 'True' } }, 'has no kind Nodde; did you mean Node?'],
])('a kind that is not there is refused with its place, and not waited for: %j', async (step, message) => {
  const { code, stderr, lines } = await played([step])
  if (message === undefined) return expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect({ code, lines }).toEqual({ code: 2, lines: [] })
  expect(stderr).toMatch(/mine\.yaml:1[0-9]:\d+: /)
  expect(stderr).toContain(message)
})

test('a kind that a file defines is awaited', async () => {
  const names = { kind: 'Gadget', plural: 'gadgets', singular: 'gadget', shortNames: ['gd'] }
  const schema = { openAPIV3Schema: { type: 'object' } }
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gadgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names,
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }
  const gadget = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'a' } }
  const { code, lines } = await played(
    [
      { apply: 'kind.yaml' },
      { apply: 'gadget.yaml' },
      ...['gd', 'Gadget', 'gadgets.example.com'].map((kind) => ({ wait: { for: 'create', kind, name: 'a' } })),
    ],
    { 'kind.yaml': stringify(definition), 'gadget.yaml': stringify(gadget) },
  )
  expect({ code, failures: failuresOf(lines) }).toEqual({ code: 0, failures: [] })
})
