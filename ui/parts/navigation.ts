import { signal } from '@preact/signals'
import { hashOf, routeIn, type Route } from '../state/route.js'

export const route = signal<Route>(routeIn(location.hash))

addEventListener('hashchange', () => void (route.value = routeIn(location.hash)))

/** Goes to a place in the page; `replace` leaves no step back. */
export function go(to: Partial<Route> & Pick<Route, 'view'>, { replace = false } = {}): void {
  const hash = hashOf(to)
  if (hash === location.hash) return
  if (!replace) return void (location.hash = hash)
  history.replaceState(null, '', hash)
  route.value = routeIn(hash)
}
