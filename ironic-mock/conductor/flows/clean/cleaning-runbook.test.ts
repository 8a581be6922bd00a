import { expect, test } from 'vitest'
import { ScriptedLab } from '../../../../test/kit/conductor/scripted-lab.js'
import { ERASE } from '../../../../test/kit/conductor/scripted-machine.js'
import type { JsonObject } from '../../../../base/wire/index.js'

const SHRED = { ...ERASE, step: 'shred', priority: 0 }
const step = (name: string, order: number) => ({ interface: 'deploy', step: name, args: {}, order })

/** A node that may be cleaned by a runbook named `CUSTOM_TIDY`, of the steps given in their reverse order. */
async function manageable(conf: JsonObject, fields: JsonObject = {}, more: JsonObject = {}) {
  const lab = await ScriptedLab.open({ conf })
  await lab.conductor.resources.create('runbook', {
    name: 'CUSTOM_TIDY',
    description: null,
    disable_ramdisk: false,
    extra: {},
    public: false,
    owner: null,
    steps: [step('erase_devices_metadata', 2), step('shred', 1)],
    traits: ['CUSTOM_TIDY'],
    ...more,
  })
  const { uuid, machine } = await lab.enroll(fields)
  await lab.conductor.updateNode(uuid, () => ({ traits: ['CUSTOM_TIDY'] }))
  machine.script.cleanSteps = [ERASE, { ...ERASE, step: 'erase_devices', priority: 10 }, SHRED]
  await lab.provision(uuid, 'manage', 'manageable')
  const ran = () =>
    machine.sent.filter(({ name }) => name.includes('execute')).map(({ params }) => (params.step as JsonObject).step)
  return { lab, uuid, machine, ran }
}

const BY_RUNBOOK = { automatedCleaningStepSource: 'runbook', automatedCleaningRunbook: 'CUSTOM_TIDY' }
const PRIORITIES = ['erase_devices_metadata', 'erase_devices']
const RUNBOOK = ['shred', 'erase_devices_metadata']

test.each<[string, JsonObject, JsonObject, readonly string[]]>([
  ['nothing is said', {}, {}, PRIORITIES],
  ['one is named but not asked for', { automatedCleaningRunbook: 'CUSTOM_TIDY' }, {}, PRIORITIES],
  ['one is named', BY_RUNBOOK, {}, RUNBOOK],
  ['one is wanted where there is one', { ...BY_RUNBOOK, automatedCleaningStepSource: 'hybrid' }, {}, RUNBOOK],
  ['none is there of those that are wanted', { automatedCleaningStepSource: 'hybrid' }, {}, PRIORITIES],
  [
    'its resource class has one',
    {
      automatedCleaningStepSource: 'hybrid',
      automatedCleaningRunbookByResourceClass: { large: 'CUSTOM_TIDY', small: 'x' },
    },
    { resource_class: 'large' },
    RUNBOOK,
  ],
  [
    'the node names one',
    { ...BY_RUNBOOK, automatedCleaningRunbook: 'nosuch', automatedCleaningRunbookFromNode: true },
    { driver_info: { redfish_address: 'http://bmc-525400000001', cleaning_runbook: 'CUSTOM_TIDY' } },
    RUNBOOK,
  ],
])('what a node is cleaned of where %s', async (_, conf, fields, steps) => {
  const { lab, uuid, ran } = await manageable(conf, fields)
  const node = await lab.provision(uuid, 'provide', 'available')
  expect(ran()).toEqual(steps)
  expect(node).toMatchObject({ clean_step: {}, driver_internal_info: { clean_steps: null } })
  expect((await lab.store.history(uuid)).at(-1)!.event_type).toBe('automated_cleaning_end')
})

const refusals: [string, JsonObject, JsonObject, string][] = [
  [
    'none is configured',
    { automatedCleaningStepSource: 'runbook' },
    {},
    'configuration requires runbook for automated cleaning and none was configured.',
  ],
  [
    'it is gone',
    { ...BY_RUNBOOK, automatedCleaningRunbook: 'CUSTOM_GONE' },
    {},
    'Runbook CUSTOM_GONE could not be found.',
  ],
  [
    'it is for other nodes',
    BY_RUNBOOK,
    { traits: ['CUSTOM_B', 'CUSTOM_A'] },
    "is not valid for node UUID. None of the runbook's traits ['CUSTOM_A', 'CUSTOM_B'] match a node trait.",
  ],
  ['it is for no node', BY_RUNBOOK, { traits: [] }, 'is not valid for node UUID. Runbook has no traits configured.'],
]

test.each(refusals)('providing is refused where %s', async (_, conf, runbook, sentence) => {
  const { lab, uuid } = await manageable(conf, {}, runbook)
  await expect(lab.conductor.provision(uuid, { target: 'provide' })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining(sentence.replace('UUID', uuid)) as string,
  })
  expect(await lab.node(uuid)).toMatchObject({ provision_state: 'manageable' })
})

test.each(refusals)(
  'a node that is undeployed ends in error, and says why, where %s',
  async (_, conf, runbook, sentence) => {
    const { lab, uuid } = await manageable(conf, {}, runbook)
    await lab.provision(uuid, 'adopt', 'active')
    expect(await lab.provision(uuid, 'deleted', 'error')).toMatchObject({
      last_error: expect.stringContaining(sentence.replace('UUID', uuid)) as string,
      instance_info: {},
    })
  },
)

test('which nodes it is for need not be looked at', async () => {
  const { lab, uuid, ran } = await manageable(
    { ...BY_RUNBOOK, automatedCleaningRunbookValidateTraits: false },
    {},
    { traits: [] },
  )
  await lab.provision(uuid, 'provide', 'available')
  expect(ran()).toEqual(RUNBOOK)
})

test('one whose steps the agent does not know fails the cleaning', async () => {
  const { lab, uuid } = await manageable(BY_RUNBOOK, {}, { steps: [step('nosuch', 1)] })
  const node = await lab.provision(uuid, 'provide', 'clean failed')
  expect(node.last_error).toContain('node does not support this clean step')
  expect(node.target_provision_state).toBe('available')
})
