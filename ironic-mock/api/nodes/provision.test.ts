import { describe, expect, test } from 'vitest'
import { PROVISION_STATES, type NodeRecord, type RunbookRecord } from '../../../base/wire/index.js'
import { PROVISION_VERBS } from '../../conductor/core/transitions.js'
import { checkProvision, type ProvisionArgs } from './provision.js'
import { aNode } from '../../../test/kit/ironic-records.js'

const check = (fields: Partial<NodeRecord>, args: ProvisionArgs, version = 115) =>
  checkProvision(aNode(fields), args, version)
const available = { provision_state: 'available' } as const
const manageable = { provision_state: 'manageable' } as const
const step = { interface: 'deploy', step: 'install_coreos', args: {}, priority: 80 }

test.each<[string, Partial<NodeRecord>, ProvisionArgs, object]>([
  ['a verb', {}, { target: 'manage' }, { target: 'manage' }],
  [
    'an empty list of steps with any verb',
    {},
    { target: 'manage', clean_steps: [] },
    { target: 'manage', clean_steps: [] },
  ],
  [
    'what BMO sends',
    available,
    { target: 'active', deploy_steps: [step], configdrive: { meta_data: { a: 1 }, network_data: {}, user_data: '{}' } },
    { target: 'active', deploy_steps: [step], configdrive: { meta_data: { a: 1 }, network_data: {}, user_data: '{}' } },
  ],
  [
    'a configdrive URL',
    available,
    { target: 'active', configdrive: 'https://h/x.gz' },
    { target: 'active', configdrive: 'https://h/x.gz' },
  ],
  [
    'a base64 configdrive',
    available,
    { target: 'active', configdrive: 'H4sIAAA=\n' },
    { target: 'active', configdrive: 'H4sIAAA=\n' },
  ],
])('%s is handed on', (_, fields, args, request) => {
  expect(check(fields, args)).toEqual(request)
})

describe('a runbook', () => {
  const steps = [
    { interface: 'deploy', step: 'second', args: {}, order: 2 },
    { interface: 'bios', step: 'first', args: { a: 1 }, order: 1 },
  ]
  const runbook: RunbookRecord = {
    id: 1,
    uuid: 'r',
    created_at: '2026',
    updated_at: null,
    name: 'CUSTOM_R',
    description: null,
    steps,
    disable_ramdisk: true,
    extra: {},
    public: false,
    owner: null,
    traits: ['CUSTOM_T'],
  }
  const ask = (args: ProvisionArgs, { traits = ['CUSTOM_T'], version = 115, found = true } = {}) => {
    const node = aNode({ provision_state: args.target === 'service' ? 'active' : 'manageable', traits })
    return checkProvision(node, { runbook: 'r', ...args }, version, found ? { runbook } : {})
  }
  const sorted = [steps[1], steps[0]]

  test('adds its steps in their order, for cleaning and for servicing', () => {
    expect(ask({ target: 'clean' })).toEqual({ target: 'clean', clean_steps: sorted, disable_ramdisk: true })
    expect(ask({ target: 'service' })).toEqual({ target: 'service', service_steps: sorted, disable_ramdisk: true })
    expect(ask({ target: 'clean' }, { traits: ['CUSTOM_R'], version: 111 })).toMatchObject({ clean_steps: sorted })
  })

  test.each<[string, ProvisionArgs, Parameters<typeof ask>[1], number, string]>([
    ['that is not there', { target: 'clean' }, { found: false }, 404, 'Runbook r could not be found.'],
    ['below 1.92', { target: 'clean' }, { version: 91 }, 406, 'Request not acceptable.'],
    [
      'with steps besides',
      { target: 'clean', clean_steps: steps },
      {},
      400,
      'Please provide either "clean_steps" or a',
    ],
    ['for another verb', { target: 'provide', clean_steps: steps }, {}, 400, '"runbooks" is only valid when setting'],
    ['for other nodes', { target: 'clean' }, { traits: [] }, 400, "any of the runbook's traits ['CUSTOM_T']"],
    ['for others by name', { target: 'clean' }, { version: 111 }, 400, 'has not been approved for use on this node'],
  ])('%s is refused', (_, args, options, status, sentence) => {
    expect(() => ask(args, options)).toThrow(
      expect.objectContaining({ status, message: expect.stringContaining(sentence) as string }) as Error,
    )
  })
})

test('a step can be limited to existing child nodes only', () => {
  const uuid = '11111111-1111-4111-8111-111111111111'
  const ask = (limit: unknown[], hasNode = () => true) => {
    const clean_steps = [
      { interface: 'power', step: 'power_on', execute_on_child_nodes: true, limit_child_node_execution: limit },
    ]
    return checkProvision(aNode(manageable), { target: 'clean', clean_steps }, 115, { hasNode })
  }
  expect(ask([uuid])).toMatchObject({ target: 'clean' })
  expect(() => ask(['name'])).toThrow('Invalid entry detected for execute_on_child_node parameter in step power_on.')
  expect(() => ask([uuid], () => false)).toThrow(`Node ${uuid} could not be found.`)
})

test.each<[string, Partial<NodeRecord>, ProvisionArgs, number, number, string]>([
  ['an unknown verb', {}, { target: 'nosuch' }, 115, 400, 'The requested action "nosuch" can not be performed'],
  ['a name of JavaScript', {}, { target: 'constructor' }, 115, 400, 'The requested action "constructor"'],
  ['null', {}, { target: null }, 115, 400, 'The requested action "None" can not be performed on node "b0000000'],
  ['a rebuild of nothing', { provision_state: 'active' }, { target: 'rebuild' }, 115, 400, 'neither image_source'],
  ['servicing below 1.87: the state first', manageable, { target: 'service' }, 86, 400, 'The requested action'],
  [
    'servicing below 1.87',
    { provision_state: 'active' },
    { target: 'service', service_steps: [{}] },
    86,
    406,
    'Request',
  ],
  [
    'an impossible verb on a locked node',
    { reservation: 'here' },
    { target: 'provide' },
    115,
    409,
    'is locked by host here',
  ],
  ['a verb that is too new', {}, { target: 'manage' }, 3, 406, 'Request not acceptable.'],
  // Upstream gates `deploy`, looked up by that name, and never its alias nor `undeploy`.
  ['deploy below 1.73', available, { target: 'deploy' }, 72, 406, 'Request not acceptable.'],
  ['undeploy below 1.73', available, { target: 'undeploy' }, 20, 400, 'The requested action "undeploy"'],
  [
    'steps of a verb in the wrong state: the state first',
    manageable,
    { target: 'active', deploy_steps: [{ step: 'x' }] },
    115,
    400,
    'The requested action "active"',
  ],
  [
    'clean without steps',
    manageable,
    { target: 'clean' },
    115,
    400,
    '"clean_steps" is required when setting target provision state to clean',
  ],
  ['clean with an empty list', manageable, { target: 'clean', clean_steps: [] }, 115, 400, '"clean_steps" is required'],
  [
    'a clean step without interface',
    manageable,
    { target: 'clean', clean_steps: [{ step: 'x' }] },
    115,
    400,
    "Invalid clean_steps: 'interface' is a required property",
  ],
  [
    'an unknown interface',
    manageable,
    { target: 'clean', clean_steps: [{ interface: 'x', step: 'x' }] },
    115,
    400,
    "Invalid clean_steps: 'x' is not one of ['vendor', 'power', 'management', 'firmware', 'deploy', 'bios', 'raid']",
  ],
  [
    'a deploy step without args',
    available,
    { target: 'active', deploy_steps: [{ interface: 'deploy', step: 'x', priority: 1 }] },
    115,
    400,
    "Invalid deploy_steps: 'args' is a required property",
  ],
  [
    'deploy steps with the alias',
    available,
    { target: 'deploy', deploy_steps: [step] },
    115,
    400,
    '"deploy_steps" is only valid',
  ],
  [
    'deploy steps below 1.69',
    available,
    { target: 'active', deploy_steps: [step] },
    68,
    406,
    'Request not acceptable.',
  ],
  [
    'a configdrive for cleaning',
    manageable,
    { target: 'clean', configdrive: { meta_data: {} } },
    115,
    400,
    'config drive',
  ],
  [
    'an object as configdrive below 1.56',
    available,
    { target: 'active', configdrive: { meta_data: {} } },
    55,
    400,
    'Providing a JSON object for configdrive is only supported starting with API version 1.56',
  ],
  [
    'a configdrive of unknown parts',
    available,
    { target: 'active', configdrive: { nosuch: 1 } },
    115,
    400,
    "('nosuch' was unexpected)",
  ],
  [
    'a configdrive that is neither',
    available,
    { target: 'active', configdrive: '{"ignition": {}}' },
    115,
    400,
    'it is neither a JSON, nor a URL, nor a base64 string',
  ],
  ['deployment in maintenance', { ...available, maintenance: true }, { target: 'active' }, 115, 400, 'maintenance'],
  [
    'abort of an inspection below 1.41',
    { provision_state: 'inspect wait' },
    { target: 'abort' },
    40,
    406,
    'Request not acceptable.',
  ],
  [
    'abort in wait call-back below 1.110',
    { provision_state: 'wait call-back' },
    { target: 'abort' },
    109,
    406,
    'Request not acceptable.',
  ],
])('%s is refused', (_, fields, args, version, status, sentence) => {
  try {
    check(fields, args, version)
    expect.unreachable()
  } catch (error) {
    expect(error).toMatchObject({ status, message: expect.stringContaining(sentence) })
  }
})

test('every verb in every state is accepted where the state machine has it, and refused with 400 elsewhere', () => {
  const needs: Record<string, ProvisionArgs> = {
    clean: { clean_steps: [{ interface: 'deploy', step: 'x' }] },
    service: { service_steps: [{ interface: 'deploy', step: 'x' }] },
    rescue: { rescue_password: 'pw' },
  }
  for (const [target, verb] of Object.entries(PROVISION_VERBS))
    for (const provision_state of PROVISION_STATES) {
      const instance_info = { image_source: 'http://images/x.raw' }
      const attempt = () => check({ provision_state, instance_info }, { target, ...needs[target] })
      if (verb.from.includes(provision_state)) expect(attempt()).toMatchObject({ target })
      else expect(attempt).toThrow(`The requested action "${target}" can not be performed`)
    }
})
