import { useEffect } from 'preact/hooks'
import { connectionState } from '../state/page-connection.js'
import { followLab, isRun } from '../state/lab-state.js'
import { VIEWS } from '../views/views.js'
import { Help } from './help.js'
import { shownDialog, useKeys } from './page-keys.js'
import { Login } from './login.js'
import { goToRoute, currentRoute } from './navigation.js'
import { dismissNotice, notices } from './notices.js'
import { Palette } from './palette.js'
import { SavedViews } from './saved-views.js'
import { nextTheme } from './theme.js'
import { TopBar } from './top-bar.js'

export function App() {
  const isAsked = connectionState.value.kind === 'login'
  useEffect(() => {
    if (isAsked) return undefined
    const controller = new AbortController()
    void followLab(controller.signal)
    return () => controller.abort()
  }, [isAsked])
  useKeys(
    () => [
      { key: '?', does: 'keyboard shortcuts', act: () => void (shownDialog.value = 'help') },
      { key: 'v', does: 'saved views; save this one', act: () => void (shownDialog.value = 'views') },
      { key: 't', does: 'dark, light, or as the system is', act: nextTheme },
      ...VIEWS.flatMap(({ view, title, key }) =>
        key ? [{ key, does: `go to ${title}`, act: () => goToRoute({ view }) }] : [],
      ),
    ],
    [],
  )
  if (connectionState.value.kind === 'login') return <Login isWrong={connectionState.value.isWrong} />
  const { view, ident } = currentRoute.value
  const shown = VIEWS.find((one) => one.view === view)
  const Shown = shown?.show
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => (event.preventDefault(), document.getElementById('main')?.focus())}
      >
        To the content
      </a>
      <TopBar />
      <LinkNotice />
      <main id="main" tabIndex={-1}>
        {Shown ? (
          <Shown key={`${view}/${ident ?? ''}`} ident={ident} />
        ) : (
          <p class="empty">
            There is no page {view}. <a href="#/fleet">The fleet</a> lists all nodes.
          </p>
        )}
      </main>
      <Notices />
      {shownDialog.value === 'palette' && <Palette />}
      {shownDialog.value === 'help' && <Help />}
      {shownDialog.value === 'views' && <SavedViews />}
    </>
  )
}

/** Says that the server is lost. */
function LinkNotice() {
  const { value } = connectionState
  return (
    <div role="alert" class={value.kind === 'lost' ? 'lost' : ''}>
      {value.kind === 'lost' && isRun.value && (
        <>
          <strong>The run has ended</strong>, or its process is gone. The page shows what was there.
        </>
      )}
      {value.kind === 'lost' && !isRun.value && (
        <>
          <strong>Connection lost</strong>: {value.why}. The page shows what was there, and goes on when the server is
          back.
        </>
      )}
    </div>
  )
}

function Notices() {
  return (
    <div class="notices" role="status">
      {notices.value.map(({ id, isError, text }) => (
        <div key={id} class={isError ? 'notice error' : 'notice'}>
          <span>{text}</span>
          <button class="plain" aria-label="Dismiss" onClick={() => dismissNotice(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  )
}
