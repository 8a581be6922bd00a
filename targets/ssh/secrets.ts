/** Something that only a person or the environment knows. */
export interface SecretQuestion {
  kind: 'password' | 'passphrase' | 'sudo' | 'answer'
  /** For people: `password of core@lab-7`. */
  about: string
  /** Whether what is typed may be seen. */
  echo: boolean
}

/** Where secrets come from. None of them is ever on a command line, in a file, a log or a report. */
export interface SecretSource {
  /** Null when nobody can say. */
  ask(question: SecretQuestion): Promise<string | null>
}

/** Asks for each thing once, since links are made anew; answers of the keyboard-interactive kind may differ each time. */
export function remembered(source: SecretSource): SecretSource & { forget(question: SecretQuestion): void } {
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
