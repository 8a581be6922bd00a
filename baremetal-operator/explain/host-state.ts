/** A BareMetalHost's `status.provisioning.state`. */
export type HostState =
  | 'registering'
  | 'inspecting'
  | 'preparing'
  | 'available'
  | 'externally provisioned'
  | 'provisioning'
  | 'provisioned'
  | 'deprovisioning'
  | 'powering off before delete'
  | 'deleting'
