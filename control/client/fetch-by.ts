import type { Transport } from '../../base/wire/index.js'

/** A `fetch` of documents for a {@link LabClient} that goes over a transport, with its certificates. */
export function fetchBy(transport: Transport): typeof fetch {
  return async (input, init = {}) => {
    const { method = 'GET', body } = init
    const headers = init.headers as Record<string, string>
    const answer = await transport.send({
      method,
      url: input as string,
      headers,
      ...(typeof body === 'string' ? { body } : {}),
    })
    return new Response(answer.body ?? null, { status: answer.status })
  }
}
