import { labelValueProblem, qualifiedNameProblem } from '../../base/kubernetes/index.js'
import { goQuote } from '../go/quote.js'
import type { HostImageManifest } from '../manifests/manifest-types.js'
import { rebootComplaints } from './annotation-rules.js'
import { complaint, onlyComplaints, type WebhookComplaint } from './complaint.js'
import { imageComplaints } from './host-rules.js'
import { requestUriOf, urlProblem } from './url-rules.js'

/** The metadata that rules look at. */
interface CheckedMetadata {
  name: string
  namespace?: string
  annotations?: Record<string, string>
}

export interface CheckedSubscription {
  metadata: CheckedMetadata
  spec?: { hostName?: string; destination?: string; httpHeadersRef?: { name?: string; namespace?: string } }
}

/** bmceventsubscription_validation.go. */
export function subscriptionComplaints({ metadata, spec = {} }: CheckedSubscription): WebhookComplaint[] {
  const { hostName = '', destination = '', httpHeadersRef: headers } = spec
  return onlyComplaints([
    hostName === '' ? complaint(['spec', 'hostName'], 'hostName cannot be empty') : undefined,
    headers && (headers.namespace ?? '') !== (metadata.namespace ?? '')
      ? complaint(
          ['spec', 'httpHeadersRef', 'namespace'],
          'httpHeadersRef secret must be in the same namespace as the BMCEventSubscription',
        )
      : undefined,
    destinationComplaint(destination),
  ])
}

function destinationComplaint(destination: string): WebhookComplaint | undefined {
  const inDestination = (message: string) => complaint(['spec', 'destination'], message)
  if (destination === '') return inDestination('destination cannot be empty')
  const url = requestUriOf(destination)
  if (typeof url === 'string') return inDestination(`destination is invalid: ${url}`)
  return url.path === '' ? inDestination('hostname-only destination must have a trailing slash') : undefined
}

export interface CheckedDataImage {
  spec?: { url?: string }
}

/** dataimage_validation.go. */
export function dataImageComplaints({ spec: { url = '' } = {} }: CheckedDataImage): WebhookComplaint[] {
  const problem = urlProblem(url)
  return problem === undefined ? [] : [complaint(['spec', 'url'], `URL "${url}" is invalid: ${problem}`)]
}

export interface CheckedComponents {
  spec?: { updates?: { component: string; url: string }[] }
}

/** hostfirmwarecomponents_validation.go. */
export const componentsComplaints = ({ spec: { updates = [] } = {} }: CheckedComponents): WebhookComplaint[] =>
  updates.flatMap(({ component, url }, index) => {
    const problem = urlProblem(url)
    if (problem === undefined) return []
    const message = `invalid URL "${url}" in FirmwareUpdate in component "${component}": ${problem}`
    return [complaint(['spec', 'updates', index, 'url'], message)]
  })

export interface CheckedClaim {
  metadata: CheckedMetadata
  spec?: {
    image?: HostImageManifest
    hostSelector?: {
      matchLabels?: Record<string, string>
      matchExpressions?: { key: string; operator: string; values?: string[] }[]
    }
  }
}

/** hostclaim_validation.go. */
export function claimComplaints({ metadata, spec = {} }: CheckedClaim): WebhookComplaint[] {
  const { matchLabels = {}, matchExpressions = [] } = spec.hostSelector ?? {}
  const inLabels = (label: string, problem: string | undefined) =>
    problem === undefined ? undefined : complaint(['spec', 'hostSelector', 'matchLabels'], `${label}: ${problem}`)
  return [
    ...onlyComplaints(
      Object.entries(matchLabels).flatMap(([key, value]) => [
        inLabels(`${key}=${value}`, labelKeyProblem(key)),
        inLabels(`${key}=${value}`, labelValueProblem(value)),
      ]),
    ),
    ...matchExpressions.flatMap(expressionComplaints),
    ...rebootComplaints(metadata.annotations ?? {}),
    ...imageComplaints(spec.image),
  ]
}

/** In the words of the apimachinery 0.36 that BareMetal Operator is built with. */
const labelKeyProblem = (key: string): string | undefined =>
  qualifiedNameProblem(key)?.replace('a qualified name must', 'a valid label key must')

type MatchExpression = NonNullable<NonNullable<CheckedClaim['spec']>['hostSelector']>['matchExpressions'] extends
  readonly (infer E)[] | undefined
  ? E
  : never

const ONE_VALUE: ReadonlySet<string> = new Set(['=', '==', '!='])
const SOME_VALUES: ReadonlySet<string> = new Set(['in', 'notin'])
const NO_VALUE: ReadonlySet<string> = new Set(['exists', '!'])

function expressionComplaints({ key, operator, values = [] }: MatchExpression, index: number): WebhookComplaint[] {
  const inExpression = (message: string) =>
    complaint(['spec', 'hostSelector', 'matchExpressions', index], `matchExpr ${index + 1}${message}`)
  const ofKey = `in match expression on label key ${key}`
  const badKey = labelKeyProblem(key)
  const badValues = () =>
    values.map((value) => {
      const problem = labelValueProblem(value)
      return problem === undefined ? undefined : inExpression(` (value ${goQuote(value)}): ${problem}`)
    })
  const operatorComplaints = () => {
    if (ONE_VALUE.has(operator))
      return values.length === 1 ? badValues() : [inExpression(`: exactly one value for operator ${operator} ${ofKey}`)]
    if (SOME_VALUES.has(operator))
      return values.length === 0
        ? [inExpression(`: At least one value in list for operator ${operator} ${ofKey}`)]
        : badValues()
    if (NO_VALUE.has(operator))
      return values.length === 0 ? [] : [inExpression(`: values not authorized for operator ${operator} ${ofKey}`)]
    return [inExpression(`: invalid operation ${operator} ${ofKey}`)]
  }
  return onlyComplaints([badKey === undefined ? undefined : inExpression(`: ${badKey}`), ...operatorComplaints()])
}

export interface CheckedAttachment {
  metadata: CheckedMetadata
  spec?: { mode?: string; allowedVLANs?: string[] }
}

/** hostnetworkattachment_validation.go. */
export function attachmentComplaints({ spec = {} }: CheckedAttachment): WebhookComplaint[] {
  const { mode, allowedVLANs = [] } = spec
  return onlyComplaints([
    mode === 'access' && allowedVLANs.length > 0
      ? complaint(['spec', 'allowedVLANs'], 'allowedVLANs cannot be specified for access mode')
      : undefined,
    ...allowedVLANs.map((entry, index) => {
      const problem = vlanProblem(entry)
      if (problem === undefined) return undefined
      return complaint(['spec', 'allowedVLANs', index], `allowedVLANs[${index}] ${goQuote(entry)}: ${problem}`)
    }),
  ])
}

/** A VLAN, or a range of them. */
function vlanProblem(entry: string): string | undefined {
  const dash = entry.indexOf('-')
  const start = readVlan(dash < 0 ? entry : entry.slice(0, dash), 'invalid VLAN ID')
  if (typeof start === 'string') return start
  if (dash < 0) return undefined
  const end = readVlan(entry.slice(dash + 1), 'invalid range end')
  if (typeof end === 'string') return end
  return start < end ? undefined : `range start (${start}) must be less than end (${end})`
}

/** strconv.Atoi of Go, and the range of VLANs. */
function readVlan(text: string, what: string): number | string {
  if (!/^[+-]?\d+$/.test(text)) return `${what}: strconv.Atoi: parsing ${goQuote(text)}: invalid syntax`
  const vlan = Number(text)
  if (!Number.isSafeInteger(vlan)) return `${what}: strconv.Atoi: parsing ${goQuote(text)}: value out of range`
  return vlan >= 1 && vlan <= 4094 ? vlan : `VLAN ID ${vlan} out of range 1-4094`
}
