import { http, HttpResponse, type HttpHandler } from 'msw'
import type { Lab } from '../../lab/index.js'

/**
 * Handlers of MSW 2 that answer all requests below `base` from a lab: Ironic's API, and the control API. Links in answers
 * begin with `base`. {@link Lab.fetchAt} says how time passes meanwhile.
 *
 * MSW sees requests of `fetch` and of `node:http`, which axios uses; for the package undici there is
 * {@link ironicInterceptor}.
 *
 * @param base URL without `/v1`
 *
 * @example
 * import { createLab } from 'ironstage'
 * import { ironicHandlers } from 'ironstage/msw'
 * import { setupServer } from 'msw/node'
 *
 * await using lab = await createLab()
 * const server = setupServer(...ironicHandlers(lab, 'https://ironic.test'))
 * server.listen({ onUnhandledRequest: 'error' })
 * const nodes = await (await fetch('https://ironic.test/v1/nodes')).json()
 * server.close()
 */
export function ironicHandlers(lab: Pick<Lab, 'fetchAt'>, base: string): HttpHandler[] {
  const fetchFromLab = lab.fetchAt(base)
  const root = base.replace(/\/+$/, '')
  return [root, `${root}/*`].map((path) =>
    http.all(path, async ({ request }) => {
      try {
        return (await fetchFromLab(request)) as HttpResponse<never>
      } catch (error) {
        // A connection that a fault has broken.
        if (error instanceof TypeError) return HttpResponse.error()
        throw error
      }
    }),
  )
}
