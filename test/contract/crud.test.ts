import { describe, expect, test } from 'vitest'
import type { ProvisionState } from '../../base/wire/index.js'
import { readRecording, type Recording } from './recording.js'
import { replay, type ReplayOptions } from './replay.js'
import { settled } from './settled.js'
import { openStage, type Stage } from './stage.js'

/** Only what a node's lock and clock decide may be null there and set here. */
const momentary = ['reservation', 'updated_at']

const run = (stage: Stage, recording: Recording, options: Partial<ReplayOptions> = {}) =>
  replay(stage.api, recording, { settle: settled(stage), momentary, ...options })

const notJson = {
  why: "a body that is not JSON is the client's mistake",
  status: 400,
  error: 'The request body is not valid JSON: ...',
}
const byName = { why: "a node's and portgroup's own are found by its name too", status: 200 }
const leftover = {
  why: 'follows from #146: the field was removed there',
  keys: ['automated_clean'],
}

describe('recorded calls get the answers of a real Ironic', () => {
  test('discovery: roots, microversions, drivers, conductors, unknown routes and methods', async () => {
    await using stage = await openStage()
    const result = await run(stage, readRecording('discovery'), {
      onPurpose: {
        34: { why: 'properties are also found by driver_name, where upstream trips (500)', status: 200 },
        36: {
          why: 'properties that nothing reads are not listed, and those of virtual media are',
          members: {
            lacks: ['firmware_update_unresponsive_bmc_wait', 'redfish_tls_minimum_version', 'redfish_tls_ciphers'],
            has: ['deploy_iso'],
          },
        },
      },
    })
    expect(result.differences).toEqual([])
    expect(result.replayed).toBe(64)
  })

  test('nodes: create, read in nine microversions, list and filter, patch, maintenance, power, delete', async () => {
    await using stage = await openStage()
    const result = await run(stage, readRecording('nodes-crud'), {
      onPurpose: {
        19: {
          why: 'an interface is named, not a Python object at an address',
          error: "deploy interface implementation 'fake' is not supported by hardware type RedfishHardware.",
        },
        29: notJson,
        60: byName,
        61: byName,
        74: byName,
        146: { why: 'automated_clean can be removed, where upstream trips (500)', status: 200 },
        149: leftover,
        150: leftover,
        152: leftover,
        153: leftover,
        160: leftover,
        173: notJson,
      },
    })
    expect(result.differences).toEqual([])
    expect(result.replayed).toBe(231)
  })

  test('ports: create, read, filter, patch, delete', async () => {
    await using stage = await openStage()
    const node = await stage.client.createNode({ driver: 'fake-hardware', name: 'ports-node' })
    const result = await run(stage, readRecording('ports-and-others-crud'), {
      ids: new Map([['23171abe-3386-4867-9639-1d91338cc02e', node.uuid]]),
      onPurpose: {
        29: byName,
        30: byName,
        31: byName,
        47: byName,
        91: { why: 'the recorded node had been changed in between', keys: ['provision_updated_at', 'resource_class'] },
      },
    })
    expect(result.differences).toEqual([])
    expect(result.replayed).toBe(101)
  })

  test('verbs: each in four states, where it led, and malformed requests', async () => {
    await using stage = await openStage()
    const recording = readRecording('verb-matrix')
    const ids = await recordedNodes(stage, recording)
    const result = await run(stage, recording, {
      ids,
      atRest: ({ path }) => path.endsWith('/states'),
      onPurpose: {
        61: { why: 'a rebuild without an image is refused with the reason, where upstream answers 500', status: 400 },
        82: { why: 'a step without interface is refused, where upstream trips (500)', status: 400 },
        83: {
          why: 'the refusal of a step does not quote the schema',
          status: 400,
          error:
            "Invalid clean_steps: 'x' is not one of ['vendor', 'power', 'management', 'firmware', 'deploy', 'bios', 'raid']\n\nOn instance[0]['interface']:\n    'x'",
        },
        95: { why: 'the recorded look came while the cleaning was failing, ours after it', keys: ['last_error'] },
      },
    })
    expect(result.differences).toEqual([])
  })
})

/** The nodes that were there before the recording: an all-fake one for each line `VERB in STATE`. */
async function recordedNodes(stage: Stage, { exchanges }: Recording): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  for (const { step, path } of exchanges) {
    const recorded = /nodes\/([0-9a-f-]{36})/.exec(path)?.[1]
    if (!recorded || recorded.endsWith('dead') || ids.has(recorded)) continue
    const state = (/ in (.+)$/.exec(step)?.[1] ?? 'enroll') as ProvisionState
    const fakes = {
      deploy_interface: 'fake',
      inspect_interface: 'fake',
      name: step.startsWith('malformed') ? 'verbs' : null,
    }
    const node = await stage.ironic.conductor.createNode({ driver: 'fake-hardware', ...fakes, provision_state: state })
    ids.set(recorded, node.uuid)
  }
  return ids
}
