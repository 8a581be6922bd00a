import { IronicError, ironicErrors, type NodeRecord } from '../../../base/wire/index.js'
import { noConductor } from '../../drivers/hardware-types.js'
import type { WorkShare } from '../../members/work-share.js'
import type { StoreView } from '../../store/open-store.js'

interface ServedParts {
  readonly store: StoreView
  readonly share: WorkShare
}

/**
 * Refuses a call about a node that no conductor has; a node of another conductor group waits for one of its own.
 *
 * @param status that ironic 39.0.0 gives a NoValidHost where the call asks for its conductor
 */
export type CheckServed = (uuid: string, status?: 400 | 404) => void

export const checkServedOf =
  ({ store, share }: ServedParts): CheckServed =>
  (uuid, status = 404) => {
    const record = store.records.nodes.get(uuid)?.record
    if (record) checkNodeServed(share, record, status)
  }

/** The same for a node as it is, or is to be. */
export function checkNodeServed(share: WorkShare, node: Readonly<NodeRecord>, status: 400 | 404): void {
  if (share.holderOf(node) !== null) return
  checkConductors(share)
  throw noConductor(node.driver, node.conductor_group, status)
}

/**
 * Refuses a call about a driver that no conductor of any group has (ironic 39.0.0 conductor/rpcapi.py
 * get_topic_for_driver).
 *
 * @throws IronicError 404
 */
export function checkDriverServed(share: WorkShare, driver: string): void {
  const alive = share.conductors().filter((conductor) => conductor.alive)
  if (alive.length === 0) throw ironicErrors.noConductors()
  if (!alive.some(({ drivers }) => drivers.includes(driver))) throw ironicErrors.driverUnknown(driver)
}

/** @throws IronicError 503 while no conductor is alive at all (ironic 39.0.0 common/hash_ring.py) */
export function checkConductors(share: WorkShare): void {
  if (share.conductors().some(({ alive }) => alive)) return
  throw new IronicError(503, 'Resource temporarily unavailable, please retry.')
}
