import { execFile } from 'node:child_process'
import { seconds, UserError, type Clock, type Logger } from '../../../base/runtime/index.js'
import type { Host } from '../hosts/host.js'
import type { HostBmc, BmcIdentity } from './host-bmc.js'

export interface IpmiBmcOptions {
  address: string
  username: string
  password: string
  /** `PATH` and others for ipmitool. */
  variables: Readonly<Record<string, string | undefined>>
  clock: Clock
  logger: Logger
  /** Pause between two looks at the power state, in milliseconds. */
  every?: number
}

/** Arguments by which ipmitool reaches a BMC; the password goes by `IPMI_PASSWORD`. */
export function ipmiArguments({ address, username }: Pick<IpmiBmcOptions, 'address' | 'username'>): string[] {
  const [, host = address, port = '623'] = /^\[?([^\]]+?)\]?(?::(\d+))?$/.exec(address) ?? []
  return ['-I', 'lanplus', '-H', host, '-p', port, '-U', username, '-E']
}

/** A machine whose BMC speaks IPMI, by `ipmitool`. The password goes by the environment, which other users cannot read. */
export class IpmiBmc implements HostBmc {
  readonly name: string
  readonly #options: IpmiBmcOptions

  constructor(options: IpmiBmcOptions) {
    this.#options = options
    this.name = options.address
  }

  async identify(signal: AbortSignal): Promise<BmcIdentity> {
    const fru = await this.#run(['fru', 'print', '0'], signal)
    const field = (name: string) => new RegExp(`^\\s*${name}\\s*:\\s*(.+)$`, 'm').exec(fru)?.[1]?.trim() || null
    const product = [field('Product Manufacturer'), field('Product Name')].filter(Boolean).join(' ')
    return {
      bmcSerial: field('Board Serial'),
      systemSerial: field('Product Serial') ?? field('Chassis Serial'),
      product: product || null,
    }
  }

  async bootLive(_live: Host['live'], signal: AbortSignal): Promise<void> {
    await this.#power('off', signal)
    await this.#run(['chassis', 'bootdev', 'pxe', 'options=efiboot'], signal)
    await this.#power('on', signal)
  }

  async bootDisk(signal: AbortSignal): Promise<void> {
    await this.#power('off', signal)
    await this.#run(['chassis', 'bootdev', 'disk', 'options=efiboot'], signal)
    await this.#power('on', signal)
  }

  async log(_since: number, signal: AbortSignal): Promise<string[]> {
    return (await this.#run(['sel', 'list'], signal)).split('\n').filter((line) => line.trim() !== '')
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve()
  }

  async #power(wanted: 'on' | 'off', signal: AbortSignal): Promise<void> {
    const { clock, every = seconds(2) } = this.#options
    const isThere = async () =>
      /is (on|off)/.exec(await this.#run(['chassis', 'power', 'status'], signal))?.[1] === wanted
    if (await isThere()) return
    await this.#run(['chassis', 'power', wanted], signal)
    while (!(await isThere())) await clock.sleep(every, { signal })
  }

  #run(words: readonly string[], signal: AbortSignal): Promise<string> {
    const { address, password, variables } = this.#options
    const argv = [...ipmiArguments(this.#options), ...words]
    return new Promise((resolve, reject) => {
      execFile(
        'ipmitool',
        argv,
        { env: { ...variables, IPMI_PASSWORD: password } as NodeJS.ProcessEnv, signal, timeout: 60_000 },
        (error, stdout, stderr) => {
          if (!error) return resolve(stdout)
          if (signal.aborted) return reject(signal.reason as Error)
          const missing = (error as NodeJS.ErrnoException).code === 'ENOENT'
          const why = missing
            ? 'ipmitool is not installed'
            : stderr.trim().split('\n').slice(0, 3).join(' ') || error.message
          reject(new UserError('ipmitool', `${address}: ipmitool ${words.join(' ')}: ${why}`))
        },
      )
    })
  }
}
