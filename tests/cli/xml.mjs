// SPDX-License-Identifier: MIT
// A strict reader of the XML that mprof writes: what it takes, any parser of XML 1.0 does.

const name = "[A-Za-z_:][-A-Za-z0-9_:.]*";
const entities = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function decoded(text) {
  const forbidden = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff<]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\]\]>/;
  if (forbidden.test(text)) throw new Error(`a character that XML forbids: ${JSON.stringify(text)}`);
  return text.replace(/&([^;&]*)(;?)/g, (whole, entity, end) => {
    if (!end || !(entity in entities)) throw new Error(`not an entity: ${whole}`);
    return entities[entity];
  });
}

function attributes(text) {
  const found = {};
  const rest = text.replace(new RegExp(`\\s+(${name})="([^"]*)"`, "g"), (_, key, value) => {
    if (key in found) throw new Error(`twice the attribute ${key}`);
    found[key] = decoded(value);
    return "";
  });
  if (rest.trim() !== "") throw new Error(`no attributes: ${rest}`);
  return found;
}

/** { name, attributes, text, children } of the root; throws at whatever is not well-formed. */
export function parse_xml(bytes) {
  const xml = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';
  if (!xml.startsWith(declaration)) throw new Error("no declaration");
  const root = { children: [], text: "" }, open = [root];
  const token = new RegExp(`<(/?)(${name})((?:\\s+${name}="[^"]*")*)\\s*(/?)>|([^<]+)`, "y");
  token.lastIndex = declaration.length;
  while (token.lastIndex < xml.length) {
    const at = token.lastIndex, match = token.exec(xml);
    if (!match) throw new Error(`not well-formed at ${at}: ${xml.slice(at, at + 40)}`);
    const [, closing, tag, rest, empty, text] = match, parent = open.at(-1);
    if (text !== undefined) {
      parent.text += decoded(text);
    } else if (closing) {
      if (parent.name !== tag || rest || empty) throw new Error(`</${tag}> ends <${parent.name}>`);
      open.pop();
    } else {
      const element = { name: tag, attributes: attributes(rest), text: "", children: [] };
      parent.children.push(element);
      if (!empty) open.push(element);
    }
  }
  if (open.length > 1 || root.children.length !== 1 || root.text.trim()) throw new Error("not one root");
  return root.children[0];
}
