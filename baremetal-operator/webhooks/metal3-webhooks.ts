import type { AdmittedWrite, KubeKind, ObjectReader, StoredObject } from '../../base/kubernetes/index.js'
import { goQuote } from '../go/quote.js'
import { aggregated, complaint, type WebhookComplaint } from './complaint.js'
import { hostChangeComplaints, hostComplaints, type CheckedHost } from './host-rules.js'
import {
  attachmentComplaints,
  claimComplaints,
  componentsComplaints,
  dataImageComplaints,
  subscriptionComplaints,
} from './other-rules.js'

/** Rules of a webhook; the objects have passed the schema of their kind. */
interface WebhookRules {
  created: (object: never) => WebhookComplaint[]
  /** By default as of a new one. */
  changed?: (before: never, after: never, read: ObjectReader) => WebhookComplaint[]
  deleted?: (object: never, read: ObjectReader) => WebhookComplaint[]
}

/** BareMetal Operator's validating webhooks (internal/webhooks/metal3.io/v1alpha1), by kind. */
const WEBHOOKS: Readonly<Record<string, WebhookRules>> = {
  BareMetalHost: { created: hostComplaints, changed: hostChangeComplaints },
  BMCEventSubscription: { created: subscriptionComplaints, changed: subscriptionChange },
  DataImage: { created: dataImageComplaints },
  HostClaim: { created: claimComplaints },
  HostFirmwareComponents: { created: componentsComplaints },
  HostNetworkAttachment: { created: attachmentComplaints, changed: attachmentChange, deleted: attachmentDeletion },
}

/** Refusals of a new object by the webhook of its kind. */
export const manifestComplaints = (kind: string, object: object): WebhookComplaint[] =>
  Object.hasOwn(WEBHOOKS, kind) ? WEBHOOKS[kind]!.created(object as never) : []

/** BareMetal Operator's webhooks as an API server asks them; the sentence of a refusal. */
export function askMetal3Webhooks(write: AdmittedWrite, read: ObjectReader): string | undefined {
  if (!Object.hasOwn(WEBHOOKS, write.kind)) return undefined
  return aggregated(complaintsOf(WEBHOOKS[write.kind]!, write, read))
}

function complaintsOf(rules: WebhookRules, { before, after }: AdmittedWrite, read: ObjectReader): WebhookComplaint[] {
  const { created, changed, deleted } = rules
  if (!after) return deleted?.(before as never, read) ?? []
  if (!before) return created(after as never)
  return changed ? changed(before as never, after as never, read) : created(after as never)
}

function subscriptionChange(before: StoredObject, after: StoredObject): WebhookComplaint[] {
  const isSame = JSON.stringify(before['spec']) === JSON.stringify(after['spec'])
  return isSame ? [] : [complaint(['spec'], 'subscriptions cannot be updated, please recreate it')]
}

function attachmentChange(before: StoredObject, after: StoredObject, read: ObjectReader): WebhookComplaint[] {
  if (JSON.stringify(before['spec']) === JSON.stringify(after['spec'])) return []
  const wrong = attachmentComplaints(after as never)
  const references = wrong.length > 0 ? [] : attachmentReferences(before, read)
  if (references.length === 0) return wrong
  const why = `HostNetworkAttachment spec is immutable while referenced by BMH interfaces: ${references.join(', ')}`
  return [complaint(['spec'], why)]
}

function attachmentDeletion(object: StoredObject, read: ObjectReader): WebhookComplaint[] {
  const references = attachmentReferences(object, read)
  if (references.length === 0) return []
  const why = `cannot delete attachment while referenced by BMH interfaces: ${references.join(', ')}`
  return [complaint([], `hostnetworkattachments.metal3.io ${goQuote(object.metadata.name)} is forbidden: ${why}`)]
}

/** Interfaces of hosts that name an attachment: `NAMESPACE/HOST[INTERFACE]`. */
function attachmentReferences({ metadata: wanted }: StoredObject, read: ObjectReader): string[] {
  const hosts = read.list('BareMetalHost' satisfies KubeKind) as unknown as CheckedHost[]
  return hosts.flatMap(({ metadata: { name: host, namespace = '' }, spec }) =>
    (spec?.networkInterfaces ?? []).flatMap(({ name, macAddress, hostNetworkAttachment }) => {
      const { name: attachment, namespace: place } = hostNetworkAttachment ?? {}
      if (attachment !== wanted.name || (place || namespace) !== wanted.namespace) return []
      return [`${namespace}/${host}[${name || macAddress}]`]
    }),
  )
}
