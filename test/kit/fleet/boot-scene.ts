import { bytesSource, writeIso } from '../../../base/bytes/index.js'
import {
  defaultMachineSpec,
  NO_PACE,
  openMachines,
  type BootNetwork,
  type Machine,
  type MachineSpec,
} from '../../../machine/index.js'
import { Probe, defined, seededRandom, silent, VirtualClock } from '../../../base/runtime/index.js'

/** Command line of the ramdisk that Ironic boots by virtual media. */
export const KERNEL_ARGUMENTS =
  'nofb text ipa-api-url=http://192.0.2.1:6385 ipa-agent-token=secret-token boot_method=vmedia'
export const GRUB = `set default=0\nset timeout=5\n\nmenuentry "boot_partition" {\nlinux /vmlinuz ${KERNEL_ARGUMENTS} --\ninitrd /initrd\n}\n`

/** An ISO as Ironic builds it. */
export const ironicIso = (files: Record<string, string> = {}, label = 'VMEDIA_BOOT_ISO'): Buffer =>
  writeIso(
    Object.fromEntries(
      Object.entries({ vmlinuz: 'kernel', initrd: 'an initramfs', 'EFI/BOOT/grub.cfg': GRUB, ...files }).map(
        ([path, text]) => [path, Buffer.from(text)],
      ),
    ),
    { label, at: 0 },
  )

export interface BootScene extends AsyncDisposable {
  machine: Machine
  clock: VirtualClock
  up: string[]
  files: Map<string, Uint8Array>
  /** URLs of the requests for files. */
  opened: string[]
  /** Credentials that came with the requests for files. */
  credentials: unknown[]
  /** Certificates that these were verified by. */
  verifiedBy: unknown[]
  /** Reasons that the probe had of each boot. */
  reported: unknown[]
  /** Details of the failed boots in the BMC's log. */
  failures(): string[]
  /** Presses the power button, and waits for what has booted. */
  boot(): Promise<Machine>
}

/** A machine that boots by its boot order, and a network with files by URL. */
export async function bootScene({
  bootScript,
  pace = NO_PACE,
  hardware = {},
}: { bootScript?: string; pace?: typeof NO_PACE; hardware?: Partial<MachineSpec> } = {}): Promise<BootScene> {
  const clock = new VirtualClock()
  const files = new Map<string, Uint8Array>()
  const opened: string[] = []
  const credentials: unknown[] = []
  const verifiedBy: unknown[] = []
  const up: string[] = []
  const network: BootNetwork = {
    open: (url, options) => {
      opened.push(url)
      credentials.push(options.credentials)
      verifiedBy.push(options.verifiedBy)
      const bytes = files.get(url)
      return bytes ? Promise.resolve(bytesSource(bytes)) : Promise.reject(new Error('the server answered 404'))
    },
    ...defined({ bootScript }),
  }
  const probe = new Probe()
  const reported: unknown[] = []
  probe.attach((point, next) => (reported.push(point['why']), next()), ['boot'])
  const machines = await openMachines({
    stateDir: null,
    clock,
    random: seededRandom(1),
    probe,
    logger: silent,
    pace,
    network,
    events: { ramdiskUp: ({ spec }) => void up.push(spec.id), down: () => {} },
  })
  const spec = { ...defaultMachineSpec(1), ...hardware }
  const disks = spec.disks.map((disk) => ({ ...disk, backing: { kind: 'described' as const } }))
  const machine = await machines.create({ ...spec, disks })
  await machine.setBoot({ kind: 'boot order' })
  return {
    machine,
    clock,
    up,
    files,
    opened,
    credentials,
    verifiedBy,
    reported,
    failures: () =>
      machine.firmware.log.entries.filter(({ kind }) => kind === 'boot failed').map(({ detail }) => detail),
    boot: async () => {
      await clock.until(machine.setPower('reboot'))
      while (!machine.boot()) await clock.advance(1000)
      return machine
    },
    [Symbol.asyncDispose]: () => machines[Symbol.asyncDispose](),
  }
}

export const CD = 'http://192.0.2.1:8080/redfish/boot-1.iso'
