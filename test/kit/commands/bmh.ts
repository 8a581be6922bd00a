/** A BareMetalHost with a BMC and these further lines of its spec, and further documents. */
export const host = (spec: string, more = '') => `apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata: {name: h}
spec:
  online: true
  bmc: {address: "redfish-virtualmedia://10.0.0.5/redfish/v1/Systems/1", credentialsName: s}
  bootMACAddress: 52:54:00:b0:00:01
${spec}
${more}`
