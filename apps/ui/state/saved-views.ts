/** A place in the page that its user has named. */
export interface SavedView {
  readonly name: string
  /** `#/fleet?state=error` */
  readonly hash: string
}

export const MAX_SAVED_VIEWS = 50
const MAX_VIEW_NAME = 60
const MAX_VIEW_HASH = 2000

/** The views of a stored text, without what is none: other programs and older pages write there too. */
export function readSavedViews(text: string | null): SavedView[] {
  let stored: unknown
  try {
    stored = JSON.parse(text ?? '[]')
  } catch {
    return []
  }
  if (!Array.isArray(stored)) return []
  return stored.filter(isSavedView).slice(0, MAX_SAVED_VIEWS)
}

/** A link that leads out of the page, or runs a script, is none. */
function isSavedView(value: unknown): value is SavedView {
  const { name, hash } = (value ?? {}) as Partial<Record<keyof SavedView, unknown>>
  if (typeof name !== 'string' || typeof hash !== 'string') return false
  return name !== '' && name.length <= MAX_VIEW_NAME && hash.startsWith('#/') && hash.length <= MAX_VIEW_HASH
}

/**
 * The views with one more, the latest last. One of the same name is replaced.
 *
 * @throws Error that says what is wrong with the name, or that there are too many
 */
export function withView(views: readonly SavedView[], { name, hash }: SavedView): SavedView[] {
  const plain = name.trim()
  if (plain === '') throw new Error('name the view')
  if (plain.length > MAX_VIEW_NAME) throw new Error(`a name has at most ${MAX_VIEW_NAME} characters`)
  if (hash.length > MAX_VIEW_HASH) throw new Error('the address of this view is too long to keep: filter by less')
  const others = withoutView(views, plain)
  if (others.length >= MAX_SAVED_VIEWS) throw new Error(`there are ${MAX_SAVED_VIEWS} views: remove one first`)
  return [...others, { name: plain, hash }]
}

export const withoutView = (views: readonly SavedView[], name: string): SavedView[] =>
  views.filter((view) => view.name !== name)
