/** What a client says of a VIF besides its id, which is upstream's to give a meaning. */
export interface VifInfo {
  readonly id: string
  readonly port_uuid?: unknown
  readonly portgroup_uuid?: unknown
}

/**
 * The virtual interfaces of a node's instance. `noop` takes any and keeps none; `flat` and `neutron` keep each on the
 * port or portgroup that gets it. There is no Neutron: every id is one that it knows, on no physical network.
 */
export interface NetworkCalls {
  vifs(uuid: string): Promise<{ id: string }[]>
  /** @throws IronicError 409 when it is attached already or the node is reserved, 400 when nothing is free */
  attachVif(uuid: string, vif: VifInfo): Promise<void>
  /** @throws IronicError 400 when it is not attached, 409 while the node is reserved */
  detachVif(uuid: string, id: string): Promise<void>
}
