/** The machine that runs an iPXE script, as far as the script may ask. */
export interface FirmwareFacts {
  /** MAC addresses of the NICs, the one that boots first. */
  macs: readonly string[]
  platform: 'efi' | 'pcbios'
  architecture: 'x86_64' | 'aarch64'
  uuid: string
  serial: string
  manufacturer: string
  product: string
}

/** The variables of iPXE scripts. */
export class IpxeSettings {
  readonly #facts: FirmwareFacts
  readonly #own = new Map<string, string>()

  constructor(facts: FirmwareFacts) {
    this.#facts = facts
  }

  /** Replaces `${name}` and `${name:type}`, the innermost first. */
  expand(line: string): string {
    let text = line
    // A value has no further names, so each round has one less.
    for (let rounds = 0; rounds < 100; rounds++) {
      const found = /\$\{([^${}]*)\}/.exec(text)
      if (!found) break
      text = text.slice(0, found.index) + this.#value(found[1]!) + text.slice(found.index + found[0].length)
    }
    return text
  }

  set(named: string, value: string): void {
    const [name] = splitIpxeSetting(named)
    if (value === '') this.#own.delete(name)
    else this.#own.set(name, value)
  }

  increase(named: string, by = '1'): void {
    const [name] = splitIpxeSetting(named)
    this.#own.set(name, String(Number(this.#own.get(name) ?? 0) + Number(by)))
  }

  #value(named: string): string {
    const [name, type] = splitIpxeSetting(named)
    const value = this.#own.get(name) ?? this.#fact(name) ?? ''
    if (!/^(?:net\d*\/)?mac$/.test(name)) return value
    if (type === 'hexhyp') return value.replaceAll(':', '-')
    return type === 'hexraw' ? value.replaceAll(':', '') : value
  }

  #fact(name: string): string | undefined {
    const { macs, platform, architecture, ...texts } = this.#facts
    const [, number] = /^net(\d*)\/mac$/.exec(name) ?? []
    if (number !== undefined) return macs[Number(number === '' ? 0 : number)]
    if (name === 'mac') return macs[0]
    if (name === 'platform') return platform
    if (name === 'buildarch') return architecture === 'aarch64' ? 'arm64' : architecture
    return texts[name as keyof typeof texts]
  }
}

const splitIpxeSetting = (named: string): [name: string, type: string | undefined] => {
  const [name = '', type] = named.split(':')
  return [name, type]
}
