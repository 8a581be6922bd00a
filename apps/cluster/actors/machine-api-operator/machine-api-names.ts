export const MACHINE_API_OPERATOR = 'machine-api-operator'
/** `MachineFinalizer` of github.com/openshift/api machine/v1beta1. */
export const MACHINE_FINALIZER = 'machine.machine.openshift.io'
/** Where a machine says which host it is (cluster-api-provider-baremetal f2b0db1 actuators/machine/actuator.go). */
export const HOST_ANNOTATION = 'metal3.io/BareMetalHost'
export const INSTANCE_STATE = 'machine.openshift.io/instance-state'
/** Where a node says which machine it is (pkg/controller/nodelink/nodelink_controller.go). */
export const MACHINE_ANNOTATION = 'machine.openshift.io/machine'
export const EXCLUDE_DRAINING = 'machine.openshift.io/exclude-node-draining'
