import { createHash } from 'node:crypto'
import { mkdir, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { errorChain, UserError, userError } from '../../../base/runtime/index.js'
import { StepError } from '../../../steps/index.js'
import { writeImage } from '../../../steps/write-image/write-image.js'
import { command } from '../commands/command.js'
import { stepMachine, testDisk } from '../step-machine.js'
import { chance } from './chance.js'
import { mutatedImage, type Format, type Mutant, type Originals } from './corpus.js'

const MIB = 2 ** 20
const DISK = 64 * MIB
/** The size that the partition table of the metal image describes. */
const METAL = 27 * MIB

/** The result of one image. */
export interface Trial extends Mutant {
  /** The command. */
  command: string
  /** `0`, or the first sentence of the failure. */
  ended: string
  /** A symptom that a user must never see; undefined when there is none. */
  defect: string | undefined
  /** Processor time, which does not depend on other load. */
  seconds: number
}

/** Commands by what kind of image they read; `IMAGE` stands for it, `OUT` for a path to write to. */
const COMMANDS: Record<'metal' | 'iso' | 'cpio', readonly string[]> = {
  metal: [
    'coreos-installer install DISK --image-file IMAGE --insecure --append-karg a=b --platform qemu',
    'coreos-installer install DISK --image-file IMAGE --insecure --ignition-file CONFIG --console ttyS0',
    'coreos-installer install DISK --image-file IMAGE --insecure --save-partlabel root --copy-network --network-dir NETWORK',
    'deploy --image IMAGE --disk-file NEWDISK --disk-size 64MiB --speed 1000 --json',
  ],
  iso: [
    'iso kargs show IMAGE',
    'iso ignition show IMAGE',
    'iso network extract IMAGE',
    'iso customize IMAGE -o OUT --dest-device /dev/sda --live-karg-append x=y',
    'iso extract pxe IMAGE -o OUT',
    'iso extract minimal-iso IMAGE OUT --rootfs-url http://x/y',
    'iso reset IMAGE -o OUT',
    'iso ignition embed IMAGE -f -i CONFIG -o OUT',
  ],
  cpio: ['pxe ignition unwrap IMAGE', 'pxe network unwrap IMAGE', 'pxe customize IMAGE -o OUT --dest-device /dev/sda'],
}

/** Messages that show a failure of this program, or an unchecked value. */
const DEFECTS = [
  /defect of ironstage|RangeError|TypeError|ReferenceError|\n {4}at |UNKNOWN|\bundefined\b|\bNaN\b|\[object/,
  /out of range|out of bounds|Invalid array length|Maximum call stack|unreachable|heap|wasm|assertion/i,
]

/** Tries images, each with a command of its kind, in this process and one after the other. */
export async function trials(made: Originals, folder: string, { deployments = true } = {}) {
  const paths = Object.fromEntries(
    ['IMAGE', 'DISK', 'NEWDISK', 'OUT', 'CONFIG', 'NETWORK'].map((name) => [name, join(folder, name.toLowerCase())]),
  ) as Record<string, string>
  await mkdir(folder, { recursive: true })
  await writeFile(paths['CONFIG']!, '{"ignition":{"version":"3.3.0"}}')
  await mkdir(paths['NETWORK']!, { recursive: true })
  await writeFile(join(paths['NETWORK']!, 'eth0.nmconnection'), '[connection]\nid=eth0\n')
  const machine = await stepMachine([testDisk('sda', 5)])

  const commands = (kind: keyof typeof COMMANDS) =>
    COMMANDS[kind].filter((words) => deployments || !words.startsWith('deploy'))
  const prepare = async (image: Buffer, whole: boolean) => {
    for (const name of ['NEWDISK', 'OUT', 'IMAGE']) await rm(paths[name]!, { recursive: true, force: true })
    await writeFile(paths['IMAGE']!, image)
    // A check insists on every byte that the partition table speaks of.
    if (whole) await truncate(paths['IMAGE']!, METAL)
    await writeFile(paths['DISK']!, '')
    await truncate(paths['DISK']!, DISK)
  }
  const step = async (image: Buffer): Promise<Outcome> => {
    const digest = createHash('sha256').update(image).digest('hex')
    const info = {
      id: 'i1',
      urls: [pathToFileURL(paths['IMAGE']!).href],
      os_hash_algo: 'sha256',
      os_hash_value: digest,
    }
    try {
      await machine.run(writeImage, { image_info: info })
      return { code: 0, stdout: '', stderr: '' }
    } catch (error) {
      const expected = error instanceof StepError || userError(error) instanceof UserError
      const stack = expected ? '' : `defect of ironstage ${(error as Error).stack}`
      return { code: 1, stdout: '', stderr: `ironstage: ${errorChain(error).join(': ')}${stack}` }
    }
  }

  return {
    async run(mutant: Mutant): Promise<Trial> {
      const image = mutatedImage(made, mutant)
      const kind = KINDS[mutant.format]
      const words = kind === 'qcow2' ? 'write_image' : chance(mutant.seed + 7).pick(commands(kind))
      const plain = mutant.format === 'gpt' || mutant.format === 'ext4'
      await prepare(image, plain && words.startsWith('deploy') && image.length < METAL)
      const since = process.cpuUsage()
      const outcome =
        kind === 'qcow2' ? await step(image) : await cli(words.split(' ').map((word) => paths[word] ?? word))
      return { ...mutant, command: words, ...judged(outcome), seconds: cpuSeconds(since) }
    },
    [Symbol.asyncDispose]: () => machine[Symbol.asyncDispose](),
  }
}

function cpuSeconds(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1e6
}

const KINDS: Record<Format, keyof typeof COMMANDS | 'qcow2'> = {
  gpt: 'metal',
  ext4: 'metal',
  xz: 'metal',
  gzip: 'metal',
  zstd: 'metal',
  qcow2: 'qcow2',
  iso: 'iso',
  cpio: 'cpio',
}

interface Outcome {
  code: number
  stdout: string
  stderr: string
}

async function cli(argv: readonly string[]): Promise<Outcome> {
  const run = command(argv)
  const code = await run.ended
  return { code, stdout: run.stdout, stderr: run.stderr }
}

function judged({ code, stdout, stderr }: Outcome): Pick<Trial, 'ended' | 'defect'> {
  const [sentence] = /^(?:Error|ironstage|error): .*/m.exec(stderr) ?? []
  // A deployment that went through reports on standard output what of the disk is not as asked.
  const report = /"ok":false|✗/.exec(stdout)?.[0]
  const ended = code === 0 ? '0' : (sentence ?? report ?? '')
  if (DEFECTS.some((defect) => defect.test(stderr)) || (code !== 0 && ended === '')) return { ended, defect: stderr }
  return { ended, defect: undefined }
}
