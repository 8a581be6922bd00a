import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { LazyMap, seededRandom, systemClock, type Clock } from '../../base/runtime/index.js'
import type { SimulatedDisk } from '../../machine/disk/block-device.js'
import { describedDisk } from '../../machine/disk/described-disk.js'
import type { MachineSpec } from '../../machine/machine-spec.js'
import { NO_PACE } from '../../machine/machine.js'
import { coreosInstallerProgram } from '../../machine/programs/coreos-installer/coreos-installer.js'
import { MemoryFileTree } from '../../machine/file-tree.js'
import type { ProgramMachine } from '../../machine/programs/machine-program.js'

const MIB = 1024 * 1024

/** The committed rehearsal image. */
export const imagePath = fileURLToPath(new URL('../../images/coreos-metal.raw.xz', import.meta.url))

export const readImage = (): Buffer => readFileSync(imagePath)

/** The same files in smaller partitions, 14 MiB: for tests that do not care what is in an image. */
export const readSmallImage = (): Buffer =>
  readFileSync(new URL('../fixtures/images/small-metal.raw.xz', import.meta.url.replace('/dist/test/', '/test/')))

/** A machine's inside with one disk, as much of it as coreos-installer looks at. */
export function insideWith(options: {
  disks?: SimulatedDisk[]
  files?: Record<string, Uint8Array | string>
  metalImage?: string | null
  mounts?: Record<string, string>
}): ProgramMachine {
  const disks = options.disks ?? [describedDisk({ name: 'sda', size: 512 * MIB, sectorSize: 512 })]
  const files = new MemoryFileTree(() => new Map())
  for (const { name } of disks) files.write(`/dev/${name}`, new Uint8Array())
  for (const [path, bytes] of Object.entries(options.files ?? {}))
    files.write(path, typeof bytes === 'string' ? Buffer.from(bytes) : bytes)
  const spec: MachineSpec = {
    id: 'machine-1',
    bmc: null,
    firmware: 'uefi',
    architecture: 'x86_64',
    cpus: 4,
    memoryMib: 16384,
    manufacturer: 'ironstage',
    product: 'rehearsal',
    serial: 'S1',
    nics: [],
    disks: disks.map(({ name, size, sectorSize }, index) => ({
      name,
      size,
      sectorSize,
      serial: `SERIAL${index}`,
      wwn: `0x500000000000000${index}`,
      model: 'Rehearsal Disk',
      vendor: 'IRONSTAG',
      rotational: false,
      transport: 'sata',
      backing: { kind: 'described' },
    })),
    metalImage: options.metalImage ?? null,
  }
  return {
    spec,
    boot: { id: 'boot-1', source: { kind: 'ramdisk', parameters: {} }, outcome: 'ramdisk' },
    files,
    disks: new Map(disks.map((disk) => [disk.name, disk])),
    efi: { entries: [], order: [], current: null },
    mounts: new LazyMap(
      Object.entries(options.mounts ?? {}).map(([point, device]) => [point, { device, readOnly: false }] as const),
    ),
    persist: () => Promise.resolve(),
    request: () => {},
  }
}

export interface Outcome {
  code: number
  stdout: string
  stderr: string
}

/** Runs coreos-installer in it. */
export async function runInstaller(
  inside: ProgramMachine,
  args: readonly string[],
  options: { clock?: Clock; tty?: boolean; signal?: AbortSignal; writeRate?: number; seed?: number } = {},
): Promise<Outcome> {
  const out = { stdout: '', stderr: '' }
  const text = (part: string | Uint8Array) => (typeof part === 'string' ? part : Buffer.from(part).toString())
  const code = await coreosInstallerProgram({
    argv: ['coreos-installer', ...args],
    stdin: new Uint8Array(),
    tty: options.tty ?? false,
    inside,
    clock: options.clock ?? systemClock(),
    random: seededRandom(options.seed ?? 1),
    pace: { ...NO_PACE, writeRate: options.writeRate ?? 0 },
    signal: options.signal ?? new AbortController().signal,
    stdout: (part) => void (out.stdout += text(part)),
    stderr: (part) => void (out.stderr += text(part)),
  })
  return { code, ...out }
}
