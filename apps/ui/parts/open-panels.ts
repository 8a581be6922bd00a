import { currentRoute, goToRoute } from './navigation.js'

/**
 * A panel of a page that can be opened. The page's address has the open ones: they survive a reload, and a link shows them.
 *
 * @returns whether it is open, and what opens and closes it
 */
export function usePanel(name: string): readonly [isOpen: boolean, setOpen: (isOpen: boolean) => void] {
  const open = openPanels(currentRoute.value.query)
  const setOpen = (isOpen: boolean): void => {
    const { view, ident, query } = currentRoute.peek()
    const others = openPanels(query).filter((each) => each !== name)
    const panels = isOpen ? [...others, name] : others
    goToRoute({ view, ident, query: { ...query, open: panels.join(',') } }, { replace: true })
  }
  return [open.includes(name), setOpen]
}

const openPanels = (query: Readonly<Record<string, string>>): string[] =>
  (query['open'] ?? '').split(',').filter(Boolean)
