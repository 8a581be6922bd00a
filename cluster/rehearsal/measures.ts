import type { Stage } from '../../lab/index.js'

/** Boots of the machines of a rehearsal, as they happen. */
export class Measures implements Disposable {
  readonly #boots: { machine: string; outcome: string }[] = []
  readonly #attached: Disposable[]
  /** Places in the list of boots, by the name of a moment. */
  readonly #marks = new Map<string, number>()
  readonly #installed = new Map<string, number>()

  constructor({ probe, events }: Pick<Stage, 'probe' | 'events'>) {
    this.#attached = [
      probe.attach(
        (point, next) => {
          this.#boots.push({ machine: String(point['machine']), outcome: String(point['outcome']) })
          return next()
        },
        ['boot'],
      ),
      events.listen((event) => {
        if (event.kind === 'first-boot') this.#installed.set(event.machine, this.#boots.length)
      }),
    ]
  }

  /** Names this moment for {@link rebootsSince}. */
  mark(name: string): void {
    this.#marks.set(name, this.#boots.length)
  }

  /** Boots of a machine into its system or into a deploy image, since a named moment or after its first boot. */
  rebootsSince(machine: string, since: string, into: 'disk' | 'ramdisk'): number {
    const isInstallation = since === 'installation'
    const from = isInstallation ? this.#installed.get(machine) : this.#marks.get(since)
    const boots = this.#boots
      .slice(from ?? 0)
      .filter((boot) => boot.machine === machine && boot.outcome === into).length
    return isInstallation ? boots - 1 : boots
  }

  [Symbol.dispose](): void {
    for (const each of this.#attached) each[Symbol.dispose]()
  }
}
