import { deviceOf, sshUrlOf } from '../hosts/host-names.js'
import type { Host } from '../hosts/host.js'
import { nodeNameOf } from '../ironic/host-node.js'
import { limitsOf } from '../pipeline/stage-limits.js'
import { stagesOf } from '../pipeline/stages.js'

/** Text of `--plan`: what would be done, as far as it is known without contacting a host. */
export function runPlanText(
  hosts: readonly Host[],
  options: { parallel: number; canary?: string; ironic?: string },
): string[] {
  const { parallel, canary, ironic } = options
  return [
    `plan for ${hosts.length} host${hosts.length === 1 ? '' : 's'}, ${parallel} at a time${canary === undefined ? '' : `, ${canary} first`}; nothing was contacted, read or written`,
    ...hosts.flatMap((host) => [
      `${host.name}`,
      ...planOf(host, ironic).map(([what, text]) => `  ${what.padEnd(9)} ${text}`),
    ]),
    'all hosts are looked at before anything is written; see what is there with --check',
  ]
}

function planOf(host: Host, ironic: string | undefined): [string, string][] {
  const { bmc, live, image, steps = ['install_coreos'], allow = [] } = host
  const [device, identity] = deviceOf(host)
  const boots =
    'iso' in live
      ? `virtual media ${live.iso}`
      : 'http' in live
        ? `UEFI HTTP ${live.http}`
        : 'pxe' in live
          ? 'network'
          : 'not booted: its live system runs already'
  const retried = stagesOf(ironic === undefined ? null : { url: ironic })
    .map(({ name }) => [name, limitsOf(host, name)] as const)
    .filter(([, { retries }]) => retries > 0)
    .map(([name, { retries }]) => `${name} ${retries + 1}`)
  return [
    [
      'bmc',
      bmc
        ? `${bmc.redfish ?? `ipmi ${bmc.ipmi}`}${bmc.certificate === undefined ? '' : ', certificate pinned'}`
        : 'none',
    ],
    ironic === undefined
      ? ['boots', boots]
      : ['ironic', `${ironic}, node ${nodeNameOf(host)}: inspects, cleans, installs`],
    ['ssh', sshUrlOf(host)],
    ['disk', `${device}${identity === undefined ? '' : `, if it is ${identity}`}; no other is written`],
    ['steps', steps.map((each) => (typeof each === 'string' ? each : each.step)).join(', ')],
    ['image', image ?? `the one that the ${ironic === undefined ? 'live system' : 'ramdisk of the Ironic'} carries`],
    ['allowed', allow.join(', ') || 'nothing beside writing that disk'],
    ['then', host['verify-boot'] === false ? 'boots the disk' : 'boots the disk and proves it'],
    ['attempts', retried.join(', ') || 'one for each stage'],
  ]
}
