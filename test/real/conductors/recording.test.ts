import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { selfSigned } from '../../../agent/index.js'
import { serve } from '../../../lab/index.js'
import {
  diffRecordings,
  groupDifferences,
  IdMap,
  KnownDifferences,
  openRecorder,
  readKnownDifferences,
  readRecording,
  replayClient,
  sentenceOf,
  type Recording,
} from '../../../apps/recording/index.js'
import { silent, systemClock, systemRandom, type Logger } from '../../../base/runtime/index.js'
import { managersWith } from '../../../steps/index.js'
import { HttpTransport } from '../../../base/wire/index.js'
import { realIronic } from '../ironic.js'
import { hasFidelityRow } from '../../kit/fidelity/fidelity-rows.js'
import { practice } from '../practice-steps.js'
import { realDeployment, recordedInventory } from './recorded-deployment.js'

/** Milliseconds with a cold cache, most of which are the installation of peers. */
const INSTALLATION = 900_000
const KNOWN = new URL('known-differences.yaml', import.meta.url).pathname
const clock = systemClock()
/** Hardware managers that the real agent lacks here: one is OpenShift's, the other needs podman. */
const LACKING = ['CoreOSInstallHardwareManager', 'ContainerHardwareManager']

let folder: string
let recording: Recording
let text: string
let config: string
const log: string[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recorded-'))
  await using ironic = await realIronic()
  config = ironic.config
  const output = process.env['KEEP_RECORDING'] ?? join(folder, 'real.ndjson')
  const logger: Logger = (_, message) => void log.push(message)
  const identity = (address: string) => selfSigned({ hostname: 'recorder', address, random: systemRandom, clock })
  await using recorder = await openRecorder({
    upstream: ironic.url,
    output,
    force: true,
    port: 0,
    agentPort: 0,
    clock,
    logger,
    identity,
  })
  await realDeployment(ironic, recorder.url)
  await recorder[Symbol.asyncDispose]()
  recording = await readRecording(output)
  text = await readFile(output, 'utf8')
}, INSTALLATION)
afterAll(() => rm(folder, { recursive: true, force: true }))

test('a real deployment is recorded whole: clients, agent and Ironic, by TLS, without its secrets', () => {
  const parties = new Set(recording.exchanges.map(({ from, to }) => `${from} ${to}`))
  expect(parties).toEqual(new Set(['client ironic', 'agent ironic', 'ironic agent']))
  const beats = recording.exchanges.filter(({ target }) => target.startsWith('/v1/heartbeat/'))
  expect(beats[0]!.request.body).toMatchObject({
    callback_url: expect.stringMatching(/^https:/) as string,
    agent_token: expect.stringMatching(/^\*\*\*\d+$/) as string,
  })
  const commands = recording.exchanges.flatMap(({ to, method, request }) =>
    to === 'agent' && method === 'POST' ? [(request.body as { name: string }).name] : [],
  )
  expect(commands).toEqual(
    expect.arrayContaining(['clean.get_clean_steps', 'deploy.execute_deploy_step', 'standby.power_off']),
  )
  expect(recording.missing).toEqual([])
  for (const secret of ['correct horse', 'secret words']) expect(text).not.toContain(secret)
  expect(text).not.toMatch(/agent_token=(?!\*\*\*)/)
})

test('it replays against ironstage, and every difference is a row of fidelity', async () => {
  await using served = await serve({
    // Both sides read the same file.
    ironic: {
      profile: 'upstream',
      files: [{ name: 'ironic.conf', text: config }],
      set: ['ironstage.fake_hardware_machines=true', 'agent.require_tls=false'],
    },
    host: '127.0.0.1',
    port: 0,
    nodes: 0,
    stateDir: null,
    realistic: false,
    clock,
    random: systemRandom,
    logger: silent,
    managers: managersWith(practice).filter(({ className }) => !LACKING.includes(className)),
  })
  const { machines, spec } = served.stage
  await using transport = new HttpTransport({ clock })
  const { differences } = await replayClient({
    recording,
    url: served.url,
    transport,
    clock,
    ids: new IdMap(),
    credentials: {},
    secrets: new Map(),
    signal: new AbortController().signal,
    onCall: ({ is: { exchanges } }) => {
      const [exchange] = exchanges
      if (exchange?.method !== 'POST' || exchange.target !== '/v1/nodes') return
      // The machine of the recording stands in the room already.
      const { uuid } = exchange.response!.body as { uuid: string }
      void machines.create(machineOf(spec({ id: uuid }), uuid))
    },
  })
  const known = await readKnownDifferences(KNOWN)
  for (const { where, why } of known) expect(hasFidelityRow(why), where).toBe(true)
  const found = new KnownDifferences(known)
  const fresh = groupDifferences(differences).filter(({ first }) => found.find(first) === undefined)
  expect(fresh.map(({ first, seqs }) => `#${seqs.join()} ${first.call}: ${sentenceOf(first)}`)).toEqual([])
  expect(found.unused).toEqual([])
})

type Spec = ReturnType<Awaited<ReturnType<typeof serve>>['stage']['spec']>

function machineOf(spec: Spec, uuid: string): Spec {
  const macs = recordedInventory().interfaces.map(({ mac_address: mac }) => mac)
  return {
    ...spec,
    bmc: { address: `fake-hardware:${uuid}`, systemId: '' },
    nics: macs.map((mac, index) => ({ ...spec.nics[0]!, name: `eth${index}`, mac })),
  }
}

test('it does not differ from itself', () => {
  expect(diffRecordings(recording, recording).differences).toEqual([])
})
