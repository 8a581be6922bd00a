import { execFile } from 'node:child_process'
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { REHEARSAL_IMAGE } from '../../lab/index.js'
import { defaultMachineSpec, NO_PACE, openMachines, type Machine } from '../../machine/index.js'
import { Probe, seededRandom, silent, systemClock, type Random } from '../../runtime/index.js'
import { finish } from '../../steps/index.js'
import { median, timed, type Measured } from './measure.js'

const run = promisify(execFile)
const MIB = 2 ** 20
const SIZE = 112 * MIB

/** `coreos-installer install --offline` on a machine, against decompressing the same image to a file. */
export async function installation(): Promise<Measured[]> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-bench-'))
  try {
    const image = await makeImage(folder, seededRandom(1))
    const out = join(folder, 'dd.img')
    const peer = await median(3, async () => {
      await rm(out, { force: true })
      return timed(() => run('sh', ['-c', 'xz -dc "$1" | dd of="$2" bs=1M', 'sh', image, out]))
    })
    const ours = await onMachine(image, (install) => median(3, () => timed(install)))
    const { size } = await stat(image)
    const what = `install of a ${SIZE / MIB} MiB image (${Math.round(size / MIB)} MiB of xz)`
    return [{ what, ours, peer: { name: 'xz | dd', value: peer }, reach: 'peer', unit: 'ms', runs: 3 }]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The rehearsal image with more behind it that compresses to about a third, as an operating system does. */
async function makeImage(folder: string, random: Random): Promise<string> {
  const raw = join(folder, 'image.raw')
  await run('sh', ['-c', 'xz -dc "$1" > "$2"', 'sh', REHEARSAL_IMAGE, raw])
  const file = await open(raw, 'r+')
  let at = (await file.stat()).size
  const words = Array.from({ length: 4096 }, () => Buffer.from(random.bytes(4 + Math.floor(random.next() * 24))))
  while (at < SIZE) {
    const parts: Buffer[] = []
    for (let length = 0; length < MIB; length += parts.at(-1)!.length)
      parts.push(words[Math.floor(random.next() ** 2 * words.length)]!)
    const { bytesWritten } = await file.write(Buffer.concat(parts).subarray(0, MIB), 0, undefined, at)
    at += bytesWritten
  }
  await file.truncate(SIZE)
  await file.close()
  await run('xz', ['-6', '-T2', raw])
  return `${raw}.xz`
}

async function onMachine<T>(image: string, use: (install: () => Promise<void>) => Promise<T>): Promise<T> {
  const clock = systemClock()
  let isUp!: (machine: Machine) => void
  const up = new Promise<Machine>((resolve) => (isUp = resolve))
  await using machines = await openMachines({
    ...{ stateDir: null, clock, random: seededRandom(1), probe: new Probe(), logger: silent, pace: NO_PACE },
    events: { ramdiskUp: (machine) => isUp(machine), down: () => {} },
  })
  const made = await machines.create({ ...defaultMachineSpec(1), liveImage: image })
  await made.setBoot({ kind: 'ramdisk', parameters: {} })
  await made.setPower('on')
  const machine = await up
  return await use(async () => {
    const argv = ['coreos-installer', 'install', '/dev/sda', '--offline'] as const
    const { exit, stderr } = await finish(machine.executor, [...argv], { effect: 'writes' })
    if (exit.kind !== 'exited' || exit.code !== 0) throw new Error(`coreos-installer failed: ${stderr}`)
  })
}
