import { errorChain, sharedAbort, uuidOf } from '../../runtime/index.js'
import type { Host } from '../host.js'
import type { WantedHost } from '../wanted-hosts.js'
import { HostController, type HostControllerParts } from './host-controller.js'

/** The hosts with a BMC. Each has a UID of its own, as every object in a cluster: by it Ironic tells instances apart. */
const managedOf = (wanted: readonly WantedHost[]): (WantedHost & { host: Host })[] =>
  wanted.flatMap((each) => (each.host ? [{ ...each, host: { uid: uuidOf(each.name), ...each.host } }] : []))

/** BareMetal Operator for a set of hosts, which {@link apply} replaces as `kubectl apply --prune` would. */
export class HostsController implements AsyncDisposable {
  readonly #parts: Omit<HostControllerParts, 'signal'>
  readonly #closing = sharedAbort()
  readonly #hosts = new Map<string, { controller: HostController; running: Promise<void>; isDeleted: boolean }>()

  constructor(parts: Omit<HostControllerParts, 'signal'>) {
    this.#parts = parts
  }

  /** Takes the hosts that are wanted from now on: new ones are registered, changed ones follow, missing ones deleted. */
  apply(wanted: readonly WantedHost[]): void {
    const managed = managedOf(wanted)
    for (const host of managed) {
      // BareMetal Operator waits until they exist; a host that is there already stays as it was.
      if (host.missingSecrets.length > 0) continue
      const known = this.#hosts.get(host.name)
      // A host that is being deleted comes back once it is gone.
      if (known?.isDeleted) void known.running.then(() => this.#start(host))
      else if (known) known.controller.change(host)
      else this.#start(host)
    }
    const names = new Set(managed.map(({ name }) => name))
    for (const [name, known] of this.#hosts)
      if (!names.has(name)) {
        known.isDeleted = true
        known.controller.delete()
      }
  }

  #start(host: WantedHost & { host: Host }): void {
    const { signal } = this.#closing
    if (signal.aborted || this.#hosts.has(host.name)) return
    const controller = new HostController(host, { ...this.#parts, signal })
    const running = controller
      .run()
      .catch((error: unknown) =>
        this.#parts.logger('error', `the controller of host ${host.name} broke: ${errorChain(error).join(': ')}`, {
          error,
        }),
      )
      .finally(() => this.#hosts.delete(host.name))
    this.#hosts.set(host.name, { controller, running, isDeleted: false })
  }

  /** Stops; nodes stay as they are. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    await Promise.all([...this.#hosts.values()].map(({ running }) => running))
  }
}
