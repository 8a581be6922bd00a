/** A VIF as clients send it: its id, and the port or portgroup to attach it to. */
export interface VifInfo {
  readonly id: string
  readonly port_uuid?: unknown
  readonly portgroup_uuid?: unknown
}

/**
 * The virtual interfaces of a node's instance. `noop` accepts any and stores none; `flat` and `neutron` store each on its
 * port or portgroup. There is no Neutron: every id counts as known, on no physical network.
 */
export interface NetworkCalls {
  vifs(uuid: string): Promise<{ id: string }[]>
  /** @throws IronicError 409 when the VIF is attached already or the node is reserved, 400 when no port is free */
  attachVif(uuid: string, vif: VifInfo): Promise<void>
  /** @throws IronicError 400 when the VIF is not attached, 409 while the node is reserved */
  detachVif(uuid: string, id: string): Promise<void>
}
