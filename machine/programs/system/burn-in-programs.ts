import { findBlockNode } from '../block/block-nodes.js'
import type { Process, MachineProgram } from '../machine-program.js'
import { defineTool, ToolFailure } from '../tool.js'

/** Duration of a loop of fio without `--runtime`. */
const SECONDS_A_LOOP = 60

async function burn({ clock, signal }: Process, seconds: number): Promise<void> {
  if (!(seconds >= 0)) throw new ToolFailure('the time to run is not a number')
  await clock.sleep(seconds * 1000, { signal })
}

/** Keeps processors and memory busy for the time in its options. */
export const stressNg = defineTool(
  'stress-ng',
  {
    cpu: 'c=',
    vm: 'm=',
    'vm-bytes': '=',
    timeout: 't=',
    'metrics-brief': '',
    'log-file': '=',
  },
  async (process, options) => {
    const { inside, stderr } = process
    const seconds = Number(options.value('timeout') ?? 86_400)
    const count = Number(options.value('cpu') ?? options.value('vm') ?? 0) || inside.spec.cpus
    const kind = options.has('cpu') ? 'cpu' : 'vm'
    const lines = [`stress-ng: info:  [1] dispatching hogs: ${count} ${kind}`]
    await burn(process, seconds)
    lines.push(
      `stress-ng: info:  [1] passed: ${count}: ${kind} (${count})`,
      'stress-ng: info:  [1] failed: 0',
      `stress-ng: info:  [1] successful run completed in ${seconds.toFixed(2)} secs`,
    )
    const report = lines.map((line) => `${line}\n`).join('')
    stderr(report)
    const file = options.value('log-file')
    if (file !== undefined) inside.files.write(file, Buffer.from(report))
  },
)

/** Reads and writes disks, or the network, for the time in its options. It destroys the contents of the disks. */
export const fio: MachineProgram = async (process) => {
  const { inside, argv, random, stdout, stderr } = process
  const options = new Map<string, string>()
  const names: string[] = []
  for (let at = 1; at < argv.length; at++) {
    const [, name, attached] = /^--([\w-]+)(?:=(.*))?$/.exec(argv[at]!) ?? []
    if (name === undefined) return rejectFioOption(process, argv[at]!)
    const value = attached ?? (argv[at + 1]?.startsWith('--') === false ? argv[++at]! : '')
    if (name === 'name') names.push(value)
    options.set(name, value)
  }
  const onNetwork = options.get('ioengine') === 'net'
  const disks = onNetwork ? [] : await Promise.all(names.map((name) => findBlockNode(inside, name)))
  const missing = names[disks.indexOf(undefined)]
  if (missing !== undefined) {
    stderr(`fio: failed opening blockdev ${missing} for size check\n`)
    return 1
  }
  const runtime = Number(options.get('runtime') ?? 0)
  const loops = Number(options.get('loops') ?? 1)
  await burn(process, runtime > 0 ? runtime : loops * SECONDS_A_LOOP)
  for (const node of disks) {
    if (!node) continue
    // Overwriting the beginning is enough: table and first filesystem are destroyed.
    await node.device.write(node.offset, random.bytes(Math.min(node.length, 1024 * 1024)))
    await node.device.flush()
  }
  const report = `${JSON.stringify({ 'fio version': 'fio-3.36', jobs: names.map((jobname) => ({ jobname, error: 0 })) }, null, 2)}\n`
  const file = options.get('output')
  if (file === undefined) stdout(report)
  else inside.files.write(file, Buffer.from(report))
  return 0
}

function rejectFioOption({ stderr }: Process, word: string): number {
  stderr(`fio: unrecognized option '${word}'\n`)
  return 1
}

/** No simulated machine has a graphics processor. */
export const gpuBurn: MachineProgram = (process) => {
  process.stdout('No CUDA devices\n')
  process.stderr("Couldn't init CUDA: no CUDA-capable device is detected\n")
  return Promise.resolve(1)
}
