import { signal } from '@preact/signals'
import { formatRoute, routeIn, type PageRoute } from '../state/page-route.js'

export const currentRoute = signal<PageRoute>(routeIn(location.hash))

addEventListener('hashchange', () => void (currentRoute.value = routeIn(location.hash)))

/** Goes to an address of the page, also to one that is only another query. */
export const followHash = (hash: string): void => void (location.hash = hash)

/** Goes to a place in the page; `replace` leaves no step back. */
export function goToRoute(to: Partial<PageRoute> & Pick<PageRoute, 'view'>, { replace = false } = {}): void {
  const hash = formatRoute(to)
  if (hash === location.hash) return
  if (!replace) return void (location.hash = hash)
  history.replaceState(null, '', hash)
  currentRoute.value = routeIn(hash)
}
