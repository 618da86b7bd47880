// Finds what a file imports, in every way TypeScript has of saying it.

import ts from 'typescript'

/** Something in a file that makes it depend on another. */
export interface Import {
  /** The name as written; undefined if it is computed. */
  readonly name: string | undefined
  readonly line: number
  readonly typeOnly: boolean
}

/** Every import of a file, types and computed names included. */
export function importsIn(path: string, text: string): readonly Import[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const lineAt = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1
  const found: Import[] = source.typeReferenceDirectives.map(({ fileName, pos }) => ({
    name: fileName,
    line: lineAt(pos),
    typeOnly: true,
  }))
  const visit = (node: ts.Node): void => {
    const target = targetOf(node)
    if (target) {
      const name = target.node && ts.isStringLiteralLike(target.node) ? target.node.text : undefined
      found.push({ name, line: lineAt(node.getStart(source)), typeOnly: target.typeOnly })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

interface Target {
  readonly node: ts.Node | undefined
  readonly typeOnly: boolean
}

/** What a node imports, if it does. `import { type T }` is not types only: the import itself stays in the output. */
function targetOf(node: ts.Node): Target | undefined {
  if (ts.isImportDeclaration(node)) {
    const typeOnly = node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
    return { node: node.moduleSpecifier, typeOnly }
  }
  if (ts.isExportDeclaration(node)) {
    return node.moduleSpecifier && { node: node.moduleSpecifier, typeOnly: node.isTypeOnly }
  }
  if (ts.isExternalModuleReference(node)) return { node: node.expression, typeOnly: false }
  if (ts.isImportTypeNode(node)) {
    return { node: ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, typeOnly: true }
  }
  return ts.isCallExpression(node) ? targetOfCall(node) : undefined
}

/** `import()`, `require()`, and any call with a `node:` name, since built-ins are also had by `getBuiltinModule`. */
function targetOfCall({ expression, arguments: [first] }: ts.CallExpression): Target | undefined {
  const loads =
    expression.kind === ts.SyntaxKind.ImportKeyword ||
    (ts.isIdentifier(expression) && expression.text === 'require')
  const namesNode = first && ts.isStringLiteralLike(first) && /^node:\w/.test(first.text)
  return loads || namesNode ? { node: first, typeOnly: false } : undefined
}
