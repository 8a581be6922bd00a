import { METAL3_CRDS } from '../../base/kubernetes/index.js'
import { HARDWARE_DETAILS, INSPECT, REBOOT, STATUS_ANNOTATION } from '../controller/annotations.js'
import { GoJsonError } from '../go/json-error.js'
import { decodeJson, type DecodeOptions, type GoShape } from '../go/json.js'
import { complaint, type WebhookComplaint } from './complaint.js'

type Annotations = Readonly<Record<string, string>>

/** Errors of annotations, in the order of their names: validateAnnotations of baremetalhost_validation.go. */
export function annotationComplaints(annotations: Annotations, isInspectionDisabled: boolean): WebhookComplaint[] {
  const problemOf = (name: string, value: string): string | undefined => {
    if (value === '') return undefined
    if (name === STATUS_ANNOTATION) return statusProblem(value)
    if (name === INSPECT) return inspectProblem(value)
    if (name === HARDWARE_DETAILS) return hardwareProblem(value, isInspectionDisabled)
    return isReboot(name) ? rebootProblem(value) : undefined
  }
  return complaintsOf(annotations, problemOf)
}

/** Errors of the annotations that ask for a reboot. */
export const rebootComplaints = (annotations: Annotations): WebhookComplaint[] =>
  complaintsOf(annotations, (name, value) => (isReboot(name) && value !== '' ? rebootProblem(value) : undefined))

function complaintsOf(
  annotations: Annotations,
  problemOf: (name: string, value: string) => string | undefined,
): WebhookComplaint[] {
  const names = Object.keys(annotations).sort()
  return names.flatMap((name) => {
    const problem = problemOf(name, annotations[name]!)
    return problem === undefined ? [] : [complaint(['metadata', 'annotations', name], problem)]
  })
}

const isReboot = (name: string): boolean => name === REBOOT || name.startsWith(`${REBOOT}/`)

const HOST_STATUS = METAL3_CRDS.BareMetalHost.schema.properties!['status']! as GoShape
const HARDWARE = METAL3_CRDS.HardwareData.schema.properties!['spec']!.properties!['hardware']! as GoShape
const REBOOT_ARGUMENTS: GoShape = {
  type: 'object',
  properties: { mode: { type: 'string' }, force: { type: 'boolean' } },
}

/** OperationalStatusAllowed and ErrorTypeAllowed of baremetalhost_types.go, which lack the newest of both. */
const OPERATIONAL_STATUSES = ['', 'OK', 'discovered', 'error', 'delayed', 'detached']
const ERROR_TYPES = [
  '',
  'provisioned registration error',
  'registration error',
  'inspection error',
  'preparation error',
  'provisioning error',
  'power management error',
]

function statusProblem(text: string): string | undefined {
  const read = decoded(text, { name: 'BareMetalHostStatus', shape: HOST_STATUS, isDecoder: true, refusesUnknown: true })
  if (typeof read === 'string') return `error decoding status annotation: ${read}`
  const operationalStatus = textOf(read, 'operationalStatus')
  if (!OPERATIONAL_STATUSES.includes(operationalStatus))
    return `invalid operationalStatus '${operationalStatus}' in the ${STATUS_ANNOTATION} annotation`
  const errorType = textOf(read, 'errorType')
  if (ERROR_TYPES.includes(errorType)) return undefined
  return `invalid errorType '${errorType}' in the ${STATUS_ANNOTATION} annotation`
}

function hardwareProblem(text: string, isInspectionDisabled: boolean): string | undefined {
  if (!isInspectionDisabled)
    return 'when hardware details are provided, inspection must be disabled (either via inspect.metal3.io annotation or inspectionMode field)'
  const read = decoded(text, { name: 'HardwareDetails', shape: HARDWARE, isDecoder: true, refusesUnknown: true })
  return typeof read === 'string' ? `error decoding the ${HARDWARE_DETAILS} annotation: ${read}` : undefined
}

const inspectProblem = (text: string): string | undefined =>
  text === 'disabled' ? undefined : `invalid value for the ${INSPECT} annotation, allowed are "disabled" or ""`

function rebootProblem(text: string): string | undefined {
  const read = decoded(text, { name: 'RebootAnnotationArguments', shape: REBOOT_ARGUMENTS, isDecoder: false })
  if (typeof read === 'string') return `failed to unmarshal the data from the ${REBOOT} annotation: ${read}`
  if (['', 'hard', 'soft'].includes(textOf(read, 'mode'))) return undefined
  return `invalid mode in the ${REBOOT} annotation, allowed are "hard", "soft" or ""`
}

/** A structure as Go reads it, or the sentence of what is wrong. */
function decoded(text: string, options: DecodeOptions): Record<string, unknown> | string {
  try {
    return (decodeJson(text, options) ?? {}) as Record<string, unknown>
  } catch (error) {
    if (error instanceof GoJsonError) return error.message
    throw error
  }
}

/** A text of a structure, by the letters of its name in any case; empty where it is absent. */
function textOf(read: Record<string, unknown>, name: string): string {
  const found = Object.entries(read).findLast(([key]) => key.toLowerCase() === name.toLowerCase())?.[1]
  return typeof found === 'string' ? found : ''
}
