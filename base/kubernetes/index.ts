/** The Kubernetes API that operators share, in this process or over HTTP; and what runs their controllers. */
export { ERRORS } from './errors.js'
export { type ConditionChange, conditionOf, isTrue, kubeTime, withCondition, withConditions } from './conditions.js'
export type { ActorNotice, ActorParts } from './controllers/actor.js'
export {
  type Behaviour,
  type BehaviourChoice,
  Behaviours,
  CLUSTER_ERAS,
  type ClusterEra,
  isBehaviourOf,
  reachesRelease,
} from './controllers/behaviours.js'
export {
  type ReconcileResult,
  type ResourceController,
  type WatchedKind,
  runController,
  watchObject,
} from './controllers/controller.js'
export { serveKube } from './http/kube-server.js'
export { type KubeKind, type KubeKinds, apiVersionOf } from './kinds.js'
export type { Deployment, PodContainer } from './kinds/apps-kinds.js'
export type { ClusterOperator, ClusterVersion, Infrastructure } from './kinds/config-kinds.js'
export type { ConfigMap, KubeNode, Secret } from './kinds/core-kinds.js'
export type {
  DisruptionAction,
  DisruptionPolicies,
  InternalReleaseImage,
  MachineConfig,
  MachineConfigNode,
  MachineConfigPool,
  MachineConfiguration,
  MachineManager,
  OsImageStream,
  ReleaseBundle,
} from './kinds/machine-config-kinds.js'
export type {
  BareMetalProviderSpec,
  ControlPlaneMachineSet,
  KubeMachine,
  MachineProviderSpec,
  MachineSet,
} from './kinds/machine-kinds.js'
export type {
  BareMetalHost,
  BareMetalHostStatus,
  BareMetalSwitch,
  BmcEventSubscription,
  CredentialsStatus,
  DataImage,
  FirmwareComponent,
  FirmwareSchema,
  HostClaim,
  HostErrorType,
  HostFirmwareComponents,
  HostFirmwareSettings,
  HostImageSpec,
  IronicNetworking,
  IronicObject,
  LabelExpression,
  PreprovisioningImage,
  Provisioning,
  ProvisioningState,
} from './kinds/metal3-kinds.js'
export { definitionsIn, installDefinitions } from './crds/read-definitions.js'
export { goPattern } from './crds/go-pattern.js'
export { jsonPathOf, valuesAt } from './crds/json-path.js'
export { completeValue } from './crds/complete-value.js'
export { fieldPathText, pruneValue } from './crds/prune-value.js'
export { CRD_COMPILER_OPTIONS, METAL3_CRDS } from './crds/crd-schemas.js'
export { KindRegistry } from './kinds/kind-registry.js'
export { MANIFEST_SCHEMAS, type ManifestKind } from './kinds/metal3-schemas.js'
export type { KubeClient, ObjectName } from './kube-client.js'
export { copyJson, isSameJson } from './kube-json.js'
export { createIfAbsent, isRefusal, KubeRefusal } from './kube-refusal.js'
export { type CheckedObjects, OBJECT_FILE, checkObjectFile, openObjectFile, repairObjectFile } from './object-file.js'
export type { Condition, KubeObject, NewObject } from './object.js'
export { type Kube, openKube } from './open-kube.js'
export type { AdmissionPolicy, AdmittedWrite, ObjectReader } from './object-store.js'
export { labelValueProblem, nameProblem, qualifiedNameProblem } from './object-names.js'
export { isEmptySelector, isMet, type LabelSelector, type Requirement, selectsLabels } from './label-selectors.js'
export { makeSelector } from './selectors.js'
export { readYaml } from './read-yaml.js'
export type { Stored as StoredObject } from './stored-object.js'
