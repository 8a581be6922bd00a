import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { browserSettings, copyText, pageAddress } from '../browser.js'
import { readSavedViews, withoutView, withView, type SavedView } from '../state/saved-views.js'
import { sentenceOf } from '../state/page-connection.js'
import { Modal } from './modal.js'
import { followHash } from './navigation.js'
import { runWithNotice, showNotice } from './notices.js'
import { shownDialog } from './page-keys.js'

const VIEWS_SETTING = 'views'

/** The views that the user has named. A browser without storage keeps them as long as the page. */
export const savedViews = signal<readonly SavedView[]>(readSavedViews(browserSettings.get(VIEWS_SETTING)))

// Another tab may have saved one.
addEventListener('storage', () => void (savedViews.value = readSavedViews(browserSettings.get(VIEWS_SETTING))))

function keepViews(views: readonly SavedView[]): void {
  savedViews.value = views
  browserSettings.set(VIEWS_SETTING, views.length === 0 ? null : JSON.stringify(views))
}

export function openView({ hash }: SavedView): void {
  shownDialog.value = null
  followHash(hash)
}

const copyLink = (): Promise<boolean> => runWithNotice(() => copyText(pageAddress()), 'Copied the link to this view.')

/** Names what is shown, and lists what was named. */
export function SavedViews() {
  const [name, setName] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const save = (event: Event): void => {
    event.preventDefault()
    try {
      keepViews(withView(savedViews.value, { name, hash: location.hash || '#/fleet' }))
    } catch (error) {
      return setProblem(sentenceOf(error))
    }
    shownDialog.value = null
    showNotice(`Saved the view ${name.trim()}: Ctrl+K finds it.`)
  }
  return (
    <Modal label="Saved views">
      <h2>Saved views</h2>
      <p class="quiet">A view is this page with its filter, order and open panels, as its address has them.</p>
      <form class="tools" onSubmit={save}>
        <input
          aria-label="Name of this view"
          placeholder="Name of this view"
          autofocus
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
        <button class="primary">Save this view</button>
        <button type="button" onClick={() => void copyLink()}>
          Copy link
        </button>
      </form>
      {problem !== null && (
        <p role="alert" class="error-text">
          {problem}
        </p>
      )}
      {savedViews.value.length === 0 ? (
        <p class="quiet">No views are saved yet.</p>
      ) : (
        <ul class="saved-views" aria-label="Views">
          {savedViews.value.map((view) => (
            <li key={view.name}>
              <button class="plain" onClick={() => openView(view)}>
                {view.name}
              </button>
              <button
                aria-label={`Remove ${view.name}`}
                onClick={() => keepViews(withoutView(savedViews.value, view.name))}
              >
                Remove
              </button>
            </li>
          ))}
        </ul>
      )}
    </Modal>
  )
}
