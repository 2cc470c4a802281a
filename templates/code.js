// SPDX-License-Identifier: MIT
// Code gets its colours when it is unfolded.
(function () {
  'use strict';

  // C++ with what CUDA adds to it.
  Prism.languages.cuda = Prism.languages.extend('cpp', {});
  Prism.languages.insertBefore('cuda', 'keyword', {
    'cuda-keyword': {
      pattern: /\b(?:__(?:global|device|host|shared|constant|managed|restrict|launch_bounds|grid_constant|forceinline|noinline)__|(?:thread|block)Idx|(?:block|grid)Dim|warpSize)\b/,
      alias: 'keyword'
    }
  });

  function color(event) {
    if (!event.target.matches('details.code')) return;
    event.target.querySelectorAll('code:not([data-colored])').forEach(code => {
      code.dataset.colored = 'yes';
      code.innerHTML = Prism.highlight(code.textContent, Prism.languages[code.className.replace('language-', '')], 'cpp');
    });
  }

  document.addEventListener('toggle', color, true);
})();
