import { useMemo, useState } from 'preact/hooks'
import { rows, rowsVersion } from '../state/lab-state.js'
import { choicesFor, type Choice } from '../state/palette.js'
import type { SavedView } from '../state/saved-views.js'
import { VIEWS } from '../views/views.js'
import { setMode } from './clock-texts.js'
import { shownDialog } from './page-keys.js'
import { Modal } from './modal.js'
import { goToRoute } from './navigation.js'
import { saveReport } from './save-report.js'
import { openView, savedViews } from './saved-views.js'
import { nextTheme } from './theme.js'

const PALETTE_COMMANDS = [
  ...VIEWS.flatMap(({ view, title, key }) =>
    title === null ? [] : [{ text: title, hint: key ? `page, ${key}` : 'page', act: () => goToRoute({ view }) }],
  ),
  { text: 'Failed nodes', hint: 'fleet', act: () => goToRoute({ view: 'fleet', query: { error: 'any' } }) },
  { text: 'Save a report of this lab', hint: 'command', act: () => void saveReport() },
  { text: 'Pause the clock', hint: 'command', act: () => void setMode('manual') },
  { text: 'Run the clock in real time', hint: 'command', act: () => void setMode('real') },
  { text: 'Change colours: dark, light, as the system is', hint: 'command, t', act: nextTheme },
  { text: 'Save this view', hint: 'command, v', act: () => void (shownDialog.value = 'views') },
  { text: 'Keys', hint: 'help, ?', act: () => void (shownDialog.value = 'help') },
]

const findChoices = (typed: string): Choice[] =>
  choicesFor(typed, {
    commands: [...PALETTE_COMMANDS, ...savedViews.value.map(savedViewChoice)],
    rows: rows.list(),
    openRow: ({ name, isNode }) => goToRoute({ view: isNode ? 'nodes' : 'machines', ident: name }),
  })

const savedViewChoice = (view: SavedView): Choice => ({
  text: view.name,
  hint: 'saved view',
  act: () => openView(view),
})

/** Finds a node, a page or a command by its name. */
export function Palette() {
  const [typed, setTyped] = useState('')
  const [active, setActive] = useState(0)
  const version = rowsVersion.value
  const choices = useMemo(() => findChoices(typed), [typed, version])
  const at = Math.min(active, choices.length - 1)
  const choose = (choice: Choice | undefined): void => {
    // Without a choice it stays open: the nodes may still be on their way.
    if (!choice) return
    shownDialog.value = null
    choice.act()
  }
  const keys: Readonly<Record<string, (text: string) => void>> = {
    ArrowDown: () => setActive(Math.min(at + 1, choices.length - 1)),
    ArrowUp: () => setActive(Math.max(at - 1, 0)),
    // Enter may follow a letter before that is drawn.
    Enter: (text) => choose(text === typed ? choices[at] : findChoices(text)[0]),
  }
  return (
    <Modal label="Find a node, a page or a command">
      <input
        class="palette-input"
        role="combobox"
        aria-label="Node, page or command"
        aria-expanded="true"
        aria-controls="palette-choices"
        aria-activedescendant={choices.length > 0 ? `palette-${at}` : undefined}
        placeholder="Node, page or command"
        autofocus
        value={typed}
        onInput={({ currentTarget }) => (setTyped(currentTarget.value), setActive(0))}
        onKeyDown={(event) => {
          const act = keys[event.key]
          if (act) event.preventDefault()
          act?.(event.currentTarget.value)
        }}
      />
      <ul class="choices" id="palette-choices" role="listbox" aria-label="Choices">
        {choices.map(({ text, hint }, index) => (
          <li
            key={`${text}/${hint}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => choose(choices[index])}
          >
            <span>{text}</span> <span class="quiet">{hint}</span>
          </li>
        ))}
      </ul>
      {choices.length === 0 && <p class="empty">Nothing has this name.</p>}
    </Modal>
  )
}
