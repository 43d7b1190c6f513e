# page.cmake - the report page's script from its files, one after the other, and its style sheet; without comments and indentation, which every page would
# carry. plots.js is apart: only pages with something to zoom have it. html_page.c puts one function around both.
#   cmake -DFOLDER=src/report/html -DOUTPUT=folder -P page.cmake      writes OUTPUT/page.js, plots.js and page.css
set(page base data state select paint strip table inspect graph files share page)
set(script "")
foreach(name ${page})
    file(READ ${FOLDER}/${name}.js part)
    string(APPEND script "${part}")
endforeach()
file(READ ${FOLDER}/plots.js plots)
file(READ ${FOLDER}/page.css style)
foreach(text script plots style)
    string(REGEX REPLACE "/\\*[^*]*\\*+([^/*][^*]*\\*+)*/" "" ${text} "${${text}}")
    string(REGEX REPLACE "\n[ \n]+" "\n" ${text} "${${text}}")
    string(REGEX REPLACE " +\n" "\n" ${text} "${${text}}")
endforeach()
file(WRITE ${OUTPUT}/page.js "${script}")
file(WRITE ${OUTPUT}/plots.js "${plots}")
file(WRITE ${OUTPUT}/page.css "${style}")
