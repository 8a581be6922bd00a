import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { connectionState, signIn } from '../state/page-connection.js'

/** Asks for the name and the password of the API. */
export function Login({ isWrong }: { isWrong: boolean }) {
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const first = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => first.current?.focus(), [])
  const submit = (event: Event): void => {
    event.preventDefault()
    signIn({ name, password })
    connectionState.value = { kind: 'connecting' }
  }
  return (
    <main class="login">
      <form onSubmit={submit}>
        <h1>ironstage</h1>
        <p>This lab asks for a name and a password: one of the users in its htpasswd file.</p>
        {isWrong && (
          <p role="alert" class="error-text">
            The lab does not know this name with this password.
          </p>
        )}
        <label>
          Name
          <input
            ref={first}
            autocomplete="username"
            required
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </label>
        <label>
          Password
          <input
            type="password"
            autocomplete="current-password"
            required
            value={password}
            onInput={({ currentTarget }) => setPassword(currentTarget.value)}
          />
        </label>
        <button class="primary">Sign in</button>
        <p class="quiet">They are kept until this tab is closed.</p>
      </form>
    </main>
  )
}
