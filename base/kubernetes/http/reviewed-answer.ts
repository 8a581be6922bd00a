import type { WireResponse } from '../../wire/index.js'
import { conflictRefusal, CHANGED_MEANWHILE } from '../refusals.js'
import type { AdmissionWebhooks } from '../webhooks/ask-webhooks.js'
import { isDryRun, type ResourceRequest } from './resource-call.js'
import { resourceAnswer, withWarnings } from './resource-requests.js'

/** A write is reviewed again when its object has changed during a review, so many times. */
const MAX_REVIEWS = 5

/**
 * Answers a request; webhooks are asked about what it writes before it is written. For that the write is tried: it is the
 * state of then that they see.
 *
 * @throws KubeRefusal
 */
export function reviewedAnswer(
  call: ResourceRequest,
  webhooks: AdmissionWebhooks,
): WireResponse | Promise<WireResponse> {
  const isRead = ['GET', 'HEAD'].includes(call.request.method)
  return isRead || !webhooks.isAny ? resourceAnswer(call) : answerAfterReview(call, webhooks)
}

async function answerAfterReview(call: ResourceRequest, webhooks: AdmissionWebhooks): Promise<WireResponse> {
  const { at, store } = call
  const query = new URLSearchParams(call.query)
  query.append('dryRun', 'All')
  for (let reviews = 0; reviews < MAX_REVIEWS; reviews++) {
    const writes = store.observeWrites(() => void resourceAnswer({ ...call, query }))
    const warnings = await webhooks.review(writes, { version: at.version.name, isDryRun: isDryRun(call) })
    const isAsReviewed = writes.every(
      ({ entry, before, after }) => store.find(entry.resource, (after ?? before)!.metadata) === before,
    )
    if (isAsReviewed) return withWarnings(resourceAnswer(call), warnings)
  }
  throw conflictRefusal(at.entry, at.name ?? '', CHANGED_MEANWHILE)
}
