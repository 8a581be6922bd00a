import { erasableDisks } from '../erase-devices/erasable.js'
import { defineStep } from '../sdk/define-step.js'
import { runCommand } from '../sdk/run-command.js'
import { StepError, type StepContext } from '../sdk/step.js'
import { burnInSettings } from './settings.js'

const NON_DESTRUCTIVE = { interface: 'deploy', on: ['clean', 'service'], abortable: true } as const

/** Runs a burn-in program. */
async function burn({ target, progress, signal }: StepContext, argv: [string, ...string[]]): Promise<null> {
  if (!target.has('burn-in')) throw new StepError(`${target.name} does not allow burn-in tests`)
  progress.stage(`running ${argv[0]}`)
  await runCommand(target.executor, argv, { effect: 'writes', signal, onLine: (line) => progress.line(line) })
  return null
}

/** Loads the processors; by default all of them for a day. */
export const burninCpu = defineStep({
  ...NON_DESTRUCTIVE,
  name: 'burnin_cpu',
  run: (context) => {
    const { text, output } = burnInSettings(context.node, 'cpu')
    const limits = ['--cpu', text('cpu', '0'), '--timeout', text('timeout', '86400'), '--metrics-brief']
    return burn(context, ['stress-ng', ...limits, ...output('--log-file')])
  },
})

/** Fills the memory; by default nearly all of it for a day. */
export const burninMemory = defineStep({
  ...NON_DESTRUCTIVE,
  name: 'burnin_memory',
  run: (context) => {
    const { text, output } = burnInSettings(context.node, 'vm')
    const size = ['--vm', text('vm', '0'), '--vm-bytes', text('vm-bytes', '98%')]
    return burn(context, [
      'stress-ng',
      ...size,
      '--timeout',
      text('timeout', '86400'),
      '--metrics-brief',
      ...output('--log-file'),
    ] as [string, ...string[]])
  },
})

/** Writes all disks and reads them back, which destroys their contents. */
export const burninDisk = defineStep({
  name: 'burnin_disk',
  interface: 'deploy',
  on: ['clean'],
  abortable: true,
  run: async (context) => {
    const { text, output } = burnInSettings(context.node, 'fio_disk')
    const disks = (await erasableDisks(context)).filter(({ type }) => type === 'disk').map(({ name }) => name)
    if (disks.length === 0) {
      context.logger('info', 'there is no disk to burn in')
      return null
    }
    const runtime = text('runtime', '0')
    return burn(context, [
      'fio',
      '--rw',
      'readwrite',
      '--bs',
      '4k',
      '--direct',
      '1',
      '--ioengine',
      'libaio',
      '--iodepth',
      '32',
      '--verify',
      'crc32c',
      '--verify_dump',
      '1',
      '--continue_on_error',
      'verify',
      '--loops',
      text('loops', '4'),
      '--runtime',
      runtime,
      ...(runtime === '0' ? [] : ['--time_based']),
      '--output-format',
      'json',
      ...output('--output'),
      ...disks.flatMap((disk) => ['--name', disk]),
    ] as [string, ...string[]])
  },
})

/** Sends data to a partner and receives data from it; by default for six hours each. */
export const burninNetwork = defineStep({
  ...NON_DESTRUCTIVE,
  name: 'burnin_network',
  run: async (context) => {
    const { text, record, output } = burnInSettings(context.node, 'fio_network')
    const { role, partner } = record('config')
    if ((role !== 'writer' && role !== 'reader') || typeof partner !== 'string' || !/^[\w.:-]+$/.test(partner))
      throw new StepError(
        'burnin_network needs agent_burnin_fio_network_config in the driver_info of the node: an object with the role, "writer" or "reader", and the host name of its partner',
      )
    // The writer reads in the second phase, and the reader writes.
    for (const phase of role === 'writer' ? (['writer', 'reader'] as const) : (['reader', 'writer'] as const))
      await burn(context, [
        'fio',
        '--ioengine',
        'net',
        '--port',
        '9000',
        '--fill_device',
        '1',
        '--group_reporting',
        '--gtod_reduce',
        '1',
        '--numjobs',
        '16',
        '--name',
        phase,
        ...(phase === 'writer'
          ? ['--rw', 'write', '--hostname', partner, '--time_based', '--runtime', text('runtime', '21600')]
          : ['--rw', 'read']),
        ...output('--output'),
      ] as [string, ...string[]])
    return null
  },
})

/** Loads the graphics processors. */
export const burninGpu = defineStep({
  ...NON_DESTRUCTIVE,
  name: 'burnin_gpu',
  run: (context) => {
    const { text } = burnInSettings(context.node, 'gpu')
    return burn(context, ['gpu-burn', '-d', '-tc', '-m', text('size', '95%'), text('timeout', '86400')])
  },
})
