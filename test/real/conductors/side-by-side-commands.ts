import { expect } from 'vitest'
import type { StepKind } from '../../../base/wire/index.js'
import {
  asksWithToken,
  client,
  inOurWords,
  poisons,
  runs,
  server,
  sends,
  type Difference,
  type Row,
} from './side-by-side-rows.js'

const text = expect.any(String) as unknown
const node = {
  uuid: '11111111-2222-4333-8444-555555555555',
  instance_info: {},
  properties: {},
  driver_info: {},
  driver_internal_info: {},
}
const about = { node, ports: [] }
const VERSIONS = { practice: '1', generic_hardware_manager: '1.2' }

const anyMethod = (...at: [string, readonly [unknown, unknown]][]): Difference => ({
  row: 'Any method of a hardware manager can be called as a step',
  at: Object.fromEntries(at),
})

/** The extensions `clean`, `deploy` and `service`. */
export function stepCommands(kind: StepKind): readonly Row[] {
  const gets = `${kind}.get_${kind}_steps`
  const executes = `${kind}.execute_${kind}_step`
  const step = (fields: unknown, differs?: Difference) => runs(executes, { ...about, step: fields }, differs)
  const noop = (more: Record<string, unknown>, differs?: Difference) =>
    runs(executes, { ...about, step: { step: 'practice_noop' }, ...more }, differs)
  const version = (value: unknown) => noop({ [`${kind}_version`]: value })
  const performing = `Unexpected exception performing ${kind} step`
  const python = /TypeError/
  const notFound = (name: string) => ({
    type: 'HardwareManagerMethodNotFound',
    code: 500,
    message: 'No HardwareManager found to handle method',
    details: `Could not find method: ${name}`,
  })
  const uuidless = (at: Difference['at']): Difference => ({ row: 'A node without `uuid`', at })
  const nodeless = (details: string): Difference =>
    uuidless({
      'body.command_status': ['FAILED', 'SUCCEEDED'],
      'body.command_error': [expect.objectContaining({ type: 'CommandExecutionError', details }), null],
      'body.command_result': [null, expect.objectContaining({ [`${kind}_result`]: null })],
    })
  const extensionless = uuidless({
    status: [404, 200],
    body: [
      client(`Not found: Extension with id ${kind} not found.`),
      expect.objectContaining({ command_status: 'SUCCEEDED' }),
    ],
  })
  const listed = (params: unknown) => runs(gets, params)
  return [
    listed(about),
    listed({ node, ports: {} }),
    listed({ node, ports: null }),
    listed({ node: { uuid: 5 }, ports: [] }),
    listed({ node: { uuid: node.uuid, instance_info: null, properties: 'text' }, ports: [] }),
    runs(gets, { node: {}, ports: [] }, extensionless),

    noop({}),
    step({
      step: 'practice_noop',
      interface: 'deploy',
      priority: 80,
      args: {},
      argsinfo: null,
      more: [1, null],
    }),
    step({ step: 'practice_noop', interface: 'nosuch' }),
    step({ step: 'practice_sleep', args: { seconds: 0 } }),
    step({ step: 'practice_reboot' }),
    ...(kind === 'clean' ? [step({ step: 'practice_fail', args: { message: 'no luck' } })] : []),

    ...[null, [], '', 0, false].map((args) => step({ step: 'practice_noop', args })),
    step(
      { step: 'practice_noop', args: { more: 1 } },
      inOurWords(
        `${performing} practice_noop. TypeError: PracticeHardwareManager.practice_noop() got an unexpected keyword argument 'more'`,
        'step practice_noop has these unexpected arguments: more',
      ),
    ),
    step({ step: 'practice_noop', args: ['more'] }, inOurWords(text, 'args is not an object')),
    step({ step: 'practice_noop', args: 'text' }, inOurWords(text, 'args is not an object')),
    step(
      { step: 'practice_sleep' },
      inOurWords(
        expect.stringMatching(python),
        'step practice_sleep is missing these required arguments: seconds (How long.)',
      ),
    ),
    step(
      { step: 'practice_sleep', args: { seconds: 'long' } },
      inOurWords(
        expect.stringMatching(python),
        'argument seconds of step practice_sleep is not valid: it must be number',
      ),
    ),

    step({ step: 'nosuch' }),
    step({ step: '' }),
    ...[{}, { name: 'practice_noop' }, [], 'practice_noop'].map((fields) => step(fields)),
    step(null, inOurWords(text, `Malformed ${kind}_step, no "step" key: None`)),
    ...(
      [
        [null, 'None'],
        [5, '5'],
        [['practice_noop'], "['practice_noop']"],
      ] as const
    ).map(([name, shown]) =>
      step(
        { step: name },
        inOurWords(
          expect.stringContaining(`${performing} ${shown}. TypeError: `),
          `${performing} ${shown}. TypeError: the name of a step is a text`,
        ),
      ),
    ),
    step(
      { step: 'list_block_devices' },
      anyMethod(
        ['body.command_status', ['SUCCEEDED', 'FAILED']],
        ['body.command_error', [null, notFound('list_block_devices')]],
        ['body.command_result', [expect.objectContaining({ [`${kind}_result`]: expect.any(Array) as unknown }), null]],
      ),
    ),
    step(
      { step: '__init__' },
      anyMethod(
        ...Object.entries(notFound('__init__'))
          .filter(([key]) => key !== 'code')
          .map(([key, ours]): [string, [unknown, unknown]] => [`body.command_error.${key}`, [text, ours]]),
      ),
    ),

    ...[VERSIONS, null, {}, { ...VERSIONS, practice: '0' }, { practice: '1' }, 'text'].map(version),
    runs(executes, { ...about, step: {}, [`${kind}_version`]: 'text' }),
    noop(
      { more: 1 },
      inOurWords(expect.stringMatching(python), 'step practice_noop has these unexpected arguments: more'),
    ),
    noop({ ports: {} }),
    noop({ ports: null }),
    noop({ node: { uuid: node.uuid } }),
    noop({ node: {} }, nodeless("'uuid'")),
    noop({ node: null }, nodeless("'NoneType' object is not subscriptable")),
    runs(executes, {}, inOurWords(text, `execute_${kind}_step needs the parameters step, node, ports`)),
    runs(executes, about, inOurWords(text, `execute_${kind}_step needs the parameters step`)),
    runs(
      executes,
      { step: { step: 'practice_noop' }, ports: [] },
      inOurWords(text, `execute_${kind}_step needs the parameters node`),
    ),
    runs(
      executes,
      { step: { step: 'practice_noop' }, node },
      inOurWords(text, `execute_${kind}_step needs the parameters ports`),
    ),
  ]
}

const SHA256 = 'f'.repeat(64)
const MD5 = 'f'.repeat(32)
const image = { id: 'image-1', urls: ['http://127.0.0.1:1/image'] }

/** None of them is to be accepted: what the real agent would do with one is another test's matter. */
const IMAGES: readonly unknown[] = [
  {},
  null,
  'text',
  [],
  { urls: image.urls },
  { id: 'image-1' },
  { id: null, urls: null },
  ...[[], 'http://127.0.0.1:1/image', {}, null].map((urls) => ({ ...image, urls })),
  ...['', 5, null, MD5, 'short', undefined].map((checksum) => ({ ...image, checksum })),
  ...[undefined, MD5, SHA256, 'http://x/'].map((checksum) => ({ ...image, checksum, os_hash_algo: 'sha256' })),
  ...[undefined, MD5, SHA256].map((checksum) => ({ ...image, checksum, os_hash_value: SHA256 })),
  { ...image, checksum: '', os_hash_algo: 'sha256', os_hash_value: SHA256 },
  ...[
    ['', ''],
    ['', 'f'],
    ['sha256', ''],
    [5, 'f'],
    ['sha256', 5],
    [null, 'f'],
    [0, 0],
  ].map(([os_hash_algo, os_hash_value]) => ({ ...image, os_hash_algo, os_hash_value })),
]

/** The extensions `standby`, `image`, `log`, `poll` and `flow`, as far as they leave the machine on. */
export const OTHER_COMMANDS: readonly Row[] = [
  runs('standby.sync', {}),
  runs('standby.get_partition_uuids', {}),
  runs('standby.prepare_image', {}),
  ...IMAGES.map((image_info) => runs('standby.prepare_image', { image_info })),
  runs(
    'standby.prepare_image',
    { image_info: { ...image, checksum: SHA256 }, more: 1 },
    inOurWords(text, 'prepare_image has no parameters more'),
  ),
  runs(
    'standby.execute_bootc_install',
    {},
    inOurWords(text, 'execute_bootc_install needs the parameters image_source'),
  ),
  runs('standby.power_off', { more: 1 }, inOurWords(text, 'power_off has no parameters more')),
  runs('standby.run_image', { more: 1 }, inOurWords(text, 'run_image has no parameters more')),
  runs('image.install_bootloader', {}, inOurWords(text, 'install_bootloader needs the parameters root_uuid')),
  runs(
    'image.install_bootloader',
    { root_uuid: null, more: 1 },
    inOurWords(text, 'install_bootloader has no parameters more'),
  ),
  runs('log.collect_system_logs', {}),
  runs('poll.get_hardware_info', {}),
  runs('poll.set_node_info', {}),
  runs('poll.set_node_info', { node_info: { node, config: { heartbeat_timeout: 300 } } }),
  runs('poll.set_node_info', { node_info: null }),
  ...flows(),
  asksWithToken('GET', '/v1/commands/nosuch'),
]

function flows(): Row[] {
  const flow = (tasks: unknown, differs?: Difference) => runs('flow.start_flow', { flow: tasks }, differs)
  const refused = (why: string, from: unknown): Difference => ({
    row: '`start_flow` takes any parameters',
    at: {
      status: [200, 400],
      body: [from, client(`Invalid command parameters: ${why}`)],
    },
  })
  const began = (status: string) => expect.objectContaining({ command_name: 'start_flow', command_status: status })
  const fails = { ...about, step: { step: 'practice_fail', args: { message: 'no luck' } } }
  const notTheSame = (...[real, ours]: [unknown, string]): Difference => ({
    row: '`start_flow` takes any parameters',
    at: { 'body.faultstring': [real, `Invalid command parameters: ${ours}`] },
  })
  return [
    flow([]),
    flow([{}]),
    flow([{ 'standby.sync': {} }, { 'poll.get_hardware_info': {} }]),
    flow([{ 'clean.execute_clean_step': fails }, { 'standby.sync': {} }]),
    flow([{ 'standby.nosuch': {} }]),
    flow([{ 'nosuch.sync': {} }]),
    flow([{ sync: {} }]),
    flow([{ 'standby.sync': null }], refused('the parameters of standby.sync are not an object', began('FAILED'))),
    flow([{ 'flow.start_flow': { flow: [] } }], refused('a flow cannot be part of a flow', began('SUCCEEDED'))),
    flow([[]], refused('a task of the flow is not an object', began('FAILED'))),
    flow({}, refused('flow is not a list of tasks', began('SUCCEEDED'))),
    flow(
      'text',
      notTheSame('Invalid command: Command name must be of the form <extension>.<name>', 'flow is not a list of tasks'),
    ),
  ]
}

const unreadable = server('Object of type TypeError is not JSON serializable')

/** Synchronous commands whose parameters do not fit. IPA cannot tell of its own errors from then on. */
export const WRONG_PARAMETERS: readonly Row[] = [
  ...['standby.sync', 'standby.get_partition_uuids', 'log.collect_system_logs', 'poll.get_hardware_info']
    .concat('poll.set_node_info', 'rescue.finalize_rescue', 'system.lockdown')
    .map((name) => runs(name, { more: 1 }, poisons(name, `${name.split('.')[1]} has no parameters more`))),
  ...(['clean', 'deploy', 'service'] as const).flatMap((kind) => {
    const name = `${kind}.get_${kind}_steps`
    const own = `get_${kind}_steps`
    return [
      runs(name, {}, poisons(name, `${own} needs the parameters node, ports`)),
      runs(name, { node }, poisons(name, `${own} needs the parameters ports`)),
      runs(name, { ...about, more: 1 }, poisons(name, `${own} has no parameters more`)),
    ]
  }),
  ...[{}, { flow: null }].map((params) =>
    runs('flow.start_flow', params, {
      row: '`start_flow` takes any parameters',
      at: {
        status: [500, 400],
        'body.faultcode': ['Server', 'Client'],
        'body.faultstring': [unreadable.faultstring, 'Invalid command parameters: flow is not a list of tasks'],
      },
    }),
  ),
  sends('a command that is right', { name: 'standby.sync', params: {} }),
  asksWithToken('GET', '/v1/commands/{last}'),
  asksWithToken('GET', '/v1/commands/', {
    differs: {
      row: 'A synchronous command with wrong parameters answers 500',
      at: { status: [500, 200], body: [unreadable, { commands: expect.any(Array) as unknown }] },
    },
  }),
]
