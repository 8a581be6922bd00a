import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defined } from '../../../base/runtime/index.js'
import type { StoreView } from '../../../ironic-mock/index.js'
import { createStagedLab } from '../../../lab/index.js'
import type { FaultEffect } from '../../../control/index.js'
import { ConnectionFailed } from '../../../base/wire/index.js'
import { rehearsalImage } from '../../kit/images/rehearsal-image.js'
import { follow } from './follow.js'
import type { System } from './system.js'

/** Interfaces of nodes with machines: every flow has some that go through it. */
const MACHINES: readonly Record<string, unknown>[] = [
  { driver: 'redfish', deploy_interface: 'custom-agent', inspect_interface: 'agent' },
  { driver: 'redfish', deploy_interface: 'custom-agent', inspect_interface: 'redfish', raid_interface: 'agent' },
  { driver: 'ipmi', deploy_interface: 'custom-agent', inspect_interface: 'agent', rescue_interface: 'agent' },
  { driver: 'redfish', deploy_interface: 'direct', inspect_interface: 'agent', rescue_interface: 'agent' },
  { driver: 'redfish', deploy_interface: 'autodetect', inspect_interface: 'agent' },
  { driver: 'redfish', deploy_interface: 'ramdisk', boot_interface: 'redfish-virtual-media' },
  { driver: 'fake-hardware', deploy_interface: 'fake', inspect_interface: 'fake' },
]

const TROUBLE: readonly FaultEffect[] = [
  { kind: 'agent-silent' },
  { kind: 'bmc-silent' },
  { kind: 'disk-error', at: 2 ** 20 },
  { kind: 'delay', ms: 20_000 },
]

/** A whole lab in its own time: machines with disks that are only described, their agents, and faults. */
export async function labSystem(seed: number): Promise<System> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-fuzz-'))
  const image = join(folder, 'disk.raw')
  // With an EFI system partition: a deployment by `direct` can succeed.
  await writeFile(image, await rehearsalImage())
  // One of ten sessions uses this system, so the last digit of the seed does not vary.
  const profile = Math.floor(seed / 10) % 2 === 0 ? 'metal3' : 'upstream'
  const lab = await createStagedLab({ seed, ironic: { profile } })
  let made = 0
  return {
    view: () => lab.store as unknown as StoreView,
    send: ({ method, target, headers, body }) =>
      target.startsWith('/') && URL.canParse(lab.url + target)
        ? lab.transport
            .send({ method, url: lab.url + target, headers, ...defined({ body }) })
            // Calls of a ramdisk are an agent's, and a fault of an agent strikes them.
            .catch((error: unknown) => (error instanceof ConnectionFailed ? undefined : Promise.reject(error as Error)))
        : Promise.resolve(undefined),
    wait: (awaited) => lab.wait(awaited),
    pass: (ms) => lab.clock.advance(ms),
    watch: (watcher) => follow(lab.events, watcher),
    trouble: (node, dice) => {
      const effect = TROUBLE[Math.floor(dice * TROUBLE.length)]!
      lab.faults.add({ match: { node }, effect, times: 1 + (Math.floor(dice * 100) % 20) })
    },
    calm: () => lab.faults.clear(),
    restart: () => Promise.resolve(),
    excused: [502, 503],
    restEvery: 2500,
    newNode: (dice) => {
      const kind = MACHINES[Math.floor(dice * MACHINES.length)]!
      const bmc = `10.0.${made >> 8}.${made++ & 255}`
      return {
        ...kind,
        driver_info:
          kind.driver === 'ipmi'
            ? { ipmi_address: bmc, ipmi_username: 'u', ipmi_password: 'p' }
            : { redfish_address: `http://${bmc}`, redfish_system_id: '/redfish/v1/Systems/1' },
        properties: { cpu_arch: 'x86_64', capabilities: 'boot_mode:uefi' },
        instance_info:
          kind.deploy_interface === 'ramdisk'
            ? { boot_iso: 'http://images.invalid/live.iso' }
            : kind.deploy_interface === 'custom-agent'
              ? {}
              : { image_source: pathToFileURL(image).href },
      }
    },
    [Symbol.asyncDispose]: async () => {
      await lab[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
