import { pythonRepr } from '../agent/index.js'
import type { ResourceKind } from './ironic-resources.js'

/**
 * An error as Ironic's API answers it: always `{"error_message": "<JSON text>"}`, in one of two shapes
 * (ironic 39.0.0 api/method.py, api/middleware/parsable_error.py): `wsme` from its controllers (`faultcode`,
 * `faultstring`, `debuginfo`), `pecan` from routing and version negotiation (`code`, `title`, `description`).
 */
export class IronicError extends Error {
  override name = 'IronicError'
  readonly status: number
  readonly shape: 'wsme' | 'pecan'
  /** Headers of this answer alone (`allow`, the version range), lower-case names. */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    message: string,
    shape: 'wsme' | 'pecan' = 'wsme',
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message)
    this.status = status
    this.shape = shape
    this.headers = headers
  }
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  408: 'Request Timeout',
  413: 'Request Entity Too Large',
  415: 'Unsupported Media Type',
  417: 'Expectation Failed',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
}

/** The body of an error: JSON text whose one member is again JSON text, spaced as Python spaces it. */
export function ironicErrorBody(error: IronicError): string {
  const text = JSON.stringify(error.message)
  const fault = error.status >= 500 ? 'Server' : 'Client'
  const inner =
    error.shape === 'pecan'
      ? `{"code": ${error.status}, "title": "${TITLES[error.status] ?? 'Error'}", "description": ${text}}`
      : `{"faultcode": "${fault}", "faultstring": ${text}, "debuginfo": null}`
  return JSON.stringify({ error_message: inner })
}

const RESOURCE_TITLES: Readonly<Record<ResourceKind, string>> = {
  portgroup: 'Portgroup',
  allocation: 'Allocation',
  chassis: 'Chassis',
  volume_connector: 'Volume connector',
  volume_target: 'Volume target',
  deploy_template: 'Deploy template',
  runbook: 'Runbook',
  inspection_rule: 'Rule',
}

const pecan = (status: number, description = '', headers: Readonly<Record<string, string>> = {}) =>
  new IronicError(status, description, 'pecan', headers)
const badRequestError = (message: string) => new IronicError(400, message)

/** The sentences that clients read and people search for, each as Ironic spells it. */
export const ironicErrors = {
  nodeNotFound: (ident: string) => new IronicError(404, `Node ${ident} could not be found.`),
  nodeLocked: (uuid: string, host: string) =>
    new IronicError(
      409,
      `Node ${uuid} is locked by host ${host}, please retry after the current operation is completed.`,
    ),
  invalidStateRequested: (action: string, uuid: string, state: string) =>
    new IronicError(
      400,
      `The requested action "${action}" can not be performed on node "${uuid}" while it is in state "${state}".`,
    ),

  // Routing and versions.
  versionMalformed: () => pecan(406, 'Invalid value for X-OpenStack-Ironic-API-Version header'),
  versionMajor: (asked: string, range: string, headers: Readonly<Record<string, string>>) =>
    pecan(
      406,
      `Mutually exclusive versions requested. Version ${asked} requested but not supported by this service. The supported version range is: ${range}.`,
      headers,
    ),
  versionMinor: (asked: string, range: string, headers: Readonly<Record<string, string>>) =>
    pecan(
      406,
      `Version ${asked} was requested but the minor version is not supported by this service. The supported version range is: ${range}.`,
      headers,
    ),
  noSuchRoute: (description = '') => pecan(404, description),
  methodNotAllowed: (allowed: readonly string[]) => pecan(405, '', { allow: [...allowed].sort().join(', ') }),
  badIdent: (what: string, ident: string) => pecan(400, `Expected UUID or name for ${what}: ${ident}`),
  resourceNotFound: () => new IronicError(404, 'Resource could not be found.'),
  /** A record of a kind that is found by uuid or name; `Chassis`, `Rule`, `Volume target`. */
  resourceGone: (kind: ResourceKind, ident: string, status = 404) =>
    new IronicError(status, `${RESOURCE_TITLES[kind]} ${ident} could not be found.`),
  malformedUri: () => badRequestError('Malformed request URI.'),
  notAcceptable: (minimum?: string) =>
    new IronicError(
      406,
      minimum === undefined
        ? 'Request not acceptable.'
        : `Request not acceptable. The minimal required API version should be ${minimum}`,
    ),
  serverFault: (message: string) => new IronicError(500, message),

  // Arguments and bodies.
  /** Upstream answers 500 with the words of Python's parser; a difference on purpose. */
  bodyNotJson: (reason: string) => badRequestError(`The request body is not valid JSON: ${reason}`),
  missingArgument: (name: string) => badRequestError(`Missing mandatory parameter: ${name}`),
  unexpectedArguments: (names: readonly string[]) => badRequestError(`Unexpected arguments: ${names.join(', ')}`),
  expected: (what: string, name: string, value: string) => badRequestError(`Expected ${what} for ${name}: ${value}`),
  notBoolean: (name: string, value: string) =>
    badRequestError(
      `Invalid ${name}: Unrecognized value '${value}', acceptable values are: '0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'`,
    ),
  schema: (label: string | undefined, problem: string) =>
    badRequestError(label === undefined ? `Schema error: ${problem}` : `Schema error for ${label}: ${problem}`),
  invalidSteps: (name: string, problem: string) => badRequestError(`Invalid ${name}: ${problem}`),
  unknownFields: (fields: readonly string[]) => badRequestError(`Field(s) "${fields.join(', ')}" are not valid`),
  unknownField: (field: string) => badRequestError(`Field ${field} is not a valid field.`),
  fieldsAndDetail: () => badRequestError('Can not specify ?detail=True and fields in the same request.'),
  volumeFieldsAndDetail: () => badRequestError("Can't fetch a subset of fields with 'detail' set"),
  detailTooNew: (value: string) => badRequestError(`Invalid query parameter ?detail=${value} received.`),
  limitNotPositive: () => badRequestError('Limit must be positive'),
  sortKey: (key: string) => badRequestError(`The sort_key value "${key}" is an invalid field for sorting`),
  /** For fields that a resource has and that cannot sort a list. */
  notSortable: (key: string) => badRequestError(`The sort_key value ${key} is an invalid field for sorting`),
  sortDir: (direction: string) =>
    badRequestError(`Invalid sort direction: ${direction}. Acceptable values are 'asc' or 'desc'`),
  unknownProvisionState: (state: string) => badRequestError(`Provision state "${state}" is not valid`),
  unknownFault: (fault: string) =>
    badRequestError(
      `Unrecognized fault "${fault}" is specified, allowed faults are ('power failure', 'clean failure', 'rescue abort failure', 'service failure')`,
    ),
  fieldNotRecognised: (field: string, suffix = '') => badRequestError(`Field "${field}" not recognised${suffix}`),

  // PATCH.
  notPatchable: (path: string, allowed: readonly string[]) =>
    badRequestError(`Cannot patch ${path}. Only the following can be updated: ${allowed.join(', ')}`),
  patchAddsRoot: (path: string) =>
    badRequestError(`Adding a new attribute (${path}) to the root of the resource is not allowed`),
  /** The node that a patch moves a record to. */
  nodeLinkInvalid: (node: string) =>
    badRequestError(`Unable to apply the requested node_uuid '${node}'. Requested value was invalid.`),
  patchFailed: (patch: string, reason: string) => badRequestError(`Couldn't apply patch '${patch}'. Reason: ${reason}`),
  transitionInProgress: (ident: string) =>
    new IronicError(409, `Node ${ident} can not be updated while a state transition is in progress.`),

  // Nodes.
  invalidNodeName: (name: string, updating?: string) =>
    badRequestError(
      updating === undefined
        ? `Cannot create node with invalid name '${name}'`
        : `Node ${updating}: Cannot change name to invalid name '${name}'`,
    ),
  reservedNodeName: (name: string, reserved: readonly string[]) =>
    badRequestError(
      `The word "${name}" is reserved and can not be used as a node name. Reserved words are: ${reserved.join(', ')}.`,
    ),
  chassisNotFound: (uuid: string, status = 400) => new IronicError(status, `Chassis ${uuid} could not be found.`),
  ownerAtCreation: () =>
    badRequestError('Cannot create a node as a project scoped admin with an owner other than your own project.'),
  descriptionTooLong: (doing: 'create' | 'update') =>
    badRequestError(`Cannot ${doing} node with description exceeding 4096 characters`),
  protectedInState: (uuid: string, state: string) =>
    new IronicError(
      409,
      `Node ${uuid} can only be made protected in provision states 'active' or 'rescue', the current state is '${state}'`,
    ),
  inventoryNotFound: (id: number) => new IronicError(404, `Node inventory record for node ${id} could not be found.`),
  historyNotFound: (uuid: string) => new IronicError(404, `Node history record ${uuid} could not be found.`),
  biosSettingNotFound: (node: string, name: string) =>
    new IronicError(404, `Node ${node} doesn't have a BIOS setting '${name}'`),
  resetWithoutDriver: () =>
    badRequestError("The reset_interfaces parameter can only be used when changing the node's driver."),
  powerTimeout: () => badRequestError('timeout has to be positive integer'),
  nodeInMaintenance: (operation: string, ident: string) =>
    badRequestError(`The ${operation} operation can't be performed on node ${ident} because it's in maintenance mode.`),

  endpointSince: (minor: number) =>
    new IronicError(404, `This endpoint is supported starting with the API version 1.${minor}`),
  modeInTransition: () =>
    new IronicError(
      409,
      'Node is in %(state)s state. Since node is transitioning, the boot mode will not be set as this may interfere with ongoing changes and result in erroneous modification. Try again later.',
    ),
  oneTraitOrAll: () =>
    badRequestError(
      'A single node trait may be added via PUT /v1/nodes/<node identifier>/traits/<trait> with no body, or all node traits may be replaced via PUT /v1/nodes/<node identifier>/traits with the list of traits specified in the request body.',
    ),
  invalidParent: (ident: unknown) =>
    badRequestError(
      `Unable to apply the requested parent_node '${typeof ident === 'string' ? ident : pythonRepr(ident)}'. Requested value was invalid.`,
    ),
  traitWithBody: () => badRequestError('No body should be provided when adding a trait'),
  tooManyTraits: (id: number, wanted: number, most: number) =>
    badRequestError(
      `Could not modify traits for node ${id} as it would exceed the maximum number of traits per node (${wanted} vs. ${most})`,
    ),
  portAndPortgroup: () => badRequestError('Cannot specify both port_uuid and portgroup_uuid'),
  noConductors: () => new IronicError(404, 'No conductors registered.'),
  driverUnknown: (name: string) => new IronicError(404, `The driver '${name}' is unknown.`),

  // Ports, drivers, conductors.
  portNotFound: (ident: string) => new IronicError(404, `Port ${ident} could not be found.`),
  portgroupNotFound: (ident: string, status = 404) => new IronicError(status, `Portgroup ${ident} could not be found.`),
  driverNotFound: (name: string) =>
    new IronicError(404, `Could not find the following driver(s) or hardware type(s): ${name}.`),
  driverType: () => badRequestError('"type" filter must be one of "classic" or "dynamic", if specified.'),
  conductorNotFound: (host: string) => new IronicError(404, `Conductor ${host} could not be found.`),

  // Calls of the ramdisk.
  lookupWithoutKeys: () => badRequestError("At least one of 'addresses' and 'node_uuid' parameters is required"),
  callbackUrl: () => badRequestError('An issue with the supplied "callback_url" has been detected.'),
  callbackUrlChanged: () => badRequestError('Detected change in ramdisk provided "callback_url"'),
  agentTokenRequired: () => badRequestError('Agent token is required for heartbeat processing.'),
  agentStatus: () => badRequestError('Agent status is invalid. Valid states are start,end,error.'),
  agentVersionMissing: () =>
    badRequestError('Agent did not transmit a version, and a version is required. Please update the agent being used.'),
  nothingToLookUp: () => badRequestError('No lookup information provided'),
}
