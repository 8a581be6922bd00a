import type { Executor } from '../../targets/index.js'
import { runToEnd, type FinishedCommand } from '../sdk/run-command.js'

export interface BmcAddresses {
  /** `0.0.0.0` when it has none. */
  ipv4: string
  /** `::/0` when it has none. */
  ipv6: string
  mac: string | null
}

/** LAN channels of IPMI; each vendor uses another. */
const CHANNELS = Array.from({ length: 11 }, (_, index) => index + 1)

/** The BMC's addresses, read from the machine itself; null without a BMC or without ipmitool. */
export async function findBmc(executor: Executor): Promise<BmcAddresses | null> {
  let found: BmcAddresses | null = null
  for (const channel of CHANNELS) {
    const lan = await runToEnd(executor, ['ipmitool', 'lan', 'print', String(channel)], { effect: 'reads' })
    // Without the program or the device the other channels fail as well.
    if (channel === 1 && (exitCode(lan) === 127 || /could not open device/i.test(lan.stderr))) return null
    if (exitCode(lan) !== 0) continue
    const ipv4 = /^IP Address\s*: (\d+\.\d+\.\d+\.\d+)\s*$/m.exec(lan.stdout)?.[1] ?? '0.0.0.0'
    const mac = /^MAC Address\s*: ([\da-f:]{17})\s*$/im.exec(lan.stdout)?.[1]?.toLowerCase() ?? null
    const ipv6 = await ipv6Address(executor, channel)
    found ??= { ipv4, ipv6, mac }
    if (ipv4 !== '0.0.0.0' || ipv6 !== '::/0') return { ipv4, ipv6, mac }
  }
  return found
}

async function ipv6Address(executor: Executor, channel: number): Promise<string> {
  for (const origin of ['dynamic', 'static']) {
    const { stdout } = await runToEnd(executor, ['ipmitool', 'lan6', 'print', String(channel), `${origin}_addr`], {
      effect: 'reads',
    })
    for (const [, address, prefix] of stdout.matchAll(/^\s*Address\s*:\s*([\da-f:]+)(\/\d+)?\s*$/gim))
      if (address && !/^(::|fe80:)/i.test(address)) return `${address}${prefix ?? ''}`
  }
  return '::/0'
}

const exitCode = ({ exit }: FinishedCommand) => (exit.kind === 'exited' ? exit.code : null)
