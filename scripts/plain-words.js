/**
 * ESLint rule: names and comments in the words of CONTRIBUTING's vocabulary. It refuses the words of the list below in
 * identifiers, and comments that hide who does what.
 */
const BANNED_IN_NAMES = [
  'told',
  'given',
  'kept',
  'said',
  'way',
  'world',
  'turn',
  'turns',
  'sheet',
  'sheets',
  'driven',
  'patience',
]
const BANNED_IN_COMMENTS = ['whoever', 'whatever', 'whichever', 'nobody', 'somebody', 'anybody', 'everybody']
const BANNED_STARTS = ['of', 'what', 'who', 'whose', 'whether it is']

const wordsOf = (name) =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .split(/[\s_$]+/)
    .map((word) => word.toLowerCase())

export const plainWords = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: {
      name: '"{{word}}" in the name {{name}} says too little: see the vocabulary in CONTRIBUTING.md.',
      comment: 'Say who: "{{word}}" is a caller, a client, a process or a user.',
      start: 'Begin the comment with a noun or a verb, not with "{{word}}".',
    },
  },
  create(context) {
    const declared = (node) => {
      if (node?.type === 'AssignmentPattern') return declared(node.left)
      if (node?.type === 'RestElement') return declared(node.argument)
      if (node?.type === 'ArrayPattern') return node.elements.forEach(declared)
      // A member that keeps its name is judged where its type is declared, which may be a package's.
      if (node?.type === 'ObjectPattern')
        return node.properties.forEach((property) => {
          if (property.type === 'RestElement') declared(property)
          else if (!property.shorthand) declared(property.value)
        })
      if (node?.type !== 'Identifier') return
      const word = wordsOf(node.name).find((word) => BANNED_IN_NAMES.includes(word))
      if (word) context.report({ node, messageId: 'name', data: { word, name: node.name } })
    }
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          const text = comment.value.replace(/^[\s*/]+/, '')
          if (/^eslint|^@ts-/.test(text)) continue
          const start = BANNED_STARTS.find((word) => new RegExp(`^${word}\\b`, 'i').test(text))
          if (start) context.report({ loc: comment.loc, messageId: 'start', data: { word: start } })
          const word = BANNED_IN_COMMENTS.find((word) => new RegExp(`\\b${word}\\b`, 'i').test(text))
          if (word) context.report({ loc: comment.loc, messageId: 'comment', data: { word } })
        }
      },
      VariableDeclarator: ({ id }) => declared(id),
      ':function': ({ id, params }) => {
        declared(id)
        params.forEach(declared)
      },
      'TSFunctionType, TSMethodSignature': ({ params }) => params.forEach(declared),
      ClassDeclaration: ({ id }) => declared(id),
      TSInterfaceDeclaration: ({ id }) => declared(id),
      TSTypeAliasDeclaration: ({ id }) => declared(id),
      TSPropertySignature: ({ key }) => declared(key),
      PropertyDefinition: ({ key }) => declared(key),
      MethodDefinition: ({ key }) => declared(key),
    }
  },
}
