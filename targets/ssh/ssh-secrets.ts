/** Question for a secret of the user or the environment. */
export interface SecretQuestion {
  kind: 'password' | 'passphrase' | 'sudo' | 'answer'
  /** Text of the prompt: `password of core@lab-7`. */
  about: string
  /** True if the typed answer may be shown. */
  echo: boolean
}

/** Source of secrets. No secret is ever on a command line, in a file, a log or a report. */
export interface SecretSource {
  /** @returns null when there is no answer */
  ask(question: SecretQuestion): Promise<string | null>
}

/** Asks for each secret once for all connections; answers to other prompts (one-time codes) may differ each time. */
export function rememberSecrets(source: SecretSource): SecretSource & { forget(question: SecretQuestion): void } {
  const known = new Map<string, Promise<string | null>>()
  const key = ({ kind, about }: SecretQuestion) => `${kind} ${about}`
  return {
    ask: (question) => {
      if (question.kind === 'answer') return source.ask(question)
      const answer = known.get(key(question)) ?? source.ask(question)
      known.set(key(question), answer)
      return answer
    },
    forget: (question) => void known.delete(key(question)),
  }
}
